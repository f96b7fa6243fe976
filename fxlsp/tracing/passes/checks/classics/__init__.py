"""Checks for mistakes of PyTorch that do not depend on torch.fx (FX6xx).

In: a model as it was constructed, the text of its classes, and a pass. Out: problems. A module or parameter that came
from outside the model, or that other code may use, is not reported.
"""
