"""Hovers of expressions, classes, modules, variables and problems.

In: a position. Out: text whose first line says most, also as a comment for the code. Where nothing ran, nothing is
claimed.
"""
