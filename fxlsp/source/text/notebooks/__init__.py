"""Notebooks as one text: the Python code of the cells, with everything else blank.

In: cells, or a notebook file. Out: a text in which each place corresponds to a line and the same column of one cell.
"""
