"""Sizes of a traced graph as expressions of named symbols.

In: a built model, its inputs, its graph, and the values of its nodes. Out: for each tensor of the report its dimensions
as text (``B``, ``(H+31)//32``), or as the number where no expression is known. An expression is given only if it agreed
with a run at sizes from which it was not made. The graph is run again at other sizes; nothing is changed in it.
"""
