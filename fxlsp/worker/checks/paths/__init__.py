"""Checks of module paths: modules and parameters with several names, and node names that mislead (FX204 to FX207).

In: the result of a pass. Out: a problem at each place where the path that the graph shows is not the one that is meant.
"""
