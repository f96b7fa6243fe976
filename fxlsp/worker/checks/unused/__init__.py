"""Checks for modules that are never called and parameters that are never used (FX501, FX502).

In: the result of a pass and the text that may read attributes. Out: problems; what any code may use is not reported.
"""
