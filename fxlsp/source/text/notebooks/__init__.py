"""Notebooks as one text: the cells of Python code, with everything else blank.

In: cells, or a notebook file. Out: a text of which each place is a line of one cell and the same column.
"""
