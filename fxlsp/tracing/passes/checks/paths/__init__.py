"""Checks of module paths: several names, misleading node names (FX204 to FX207).

In: the result of a pass. Out: a problem at each place where the path in the graph is not the one that the text names.
"""
