"""Checks for graphs that differ from what the model does when it runs (FX3xx).

In: a pass, watched while it runs. Out: a problem at the expression whose effect the graph omits or fixes.
"""
