"""Fixes for what torch.export refuses and where torch.compile ends a graph. One file a fix.

In and out: as for the fixes around them. After each of them the front end takes the expression.
"""
