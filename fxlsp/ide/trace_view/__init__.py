"""A report turned round for lookups: what ran at an expression, who called whom, which modules are alike.

In: a report and the edits since. Out: runs, instances and places in the text as it is now. What was edited away is left
out, never moved to a neighbour.
"""
