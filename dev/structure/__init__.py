"""Counts that say how well the package is ordered, and their limits.

In: the texts of the repository. Out: counts, which ``python -m dev.structure`` prints and ``tests/test_structure.py``
compares with the limits. Nothing is imported or run.
"""
