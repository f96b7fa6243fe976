"""Checks for modules never called and parameters never used (FX501, FX502).

In: the result of a pass and the text that may read attributes. Out: problems; what any code may use is not reported.
"""
