"""Lookups in a report: what ran at an expression, who called whom, which modules.

In: a report and the edits since its trace. Out: its items with their trace, runs, instances and locations in the
current text. What was edited away is left out, never moved to a neighbour.
"""
