"""Checks of a graph that torch.fx recorded without an error, by family of codes.

In: a pass, watched while it runs. Out: problems. A check records and changes nothing, and does not depend on other
checks.
"""
