"""Counts that say how well the package is ordered, and their limits.

In: the texts of the repository. Out: counts, which ``python -m dev.structure`` prints and ``tests/test_structure.py``
compares with the limits. No code of the project is run but the table of problem codes.
"""
