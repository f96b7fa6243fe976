"""What several checks look at: the result of a pass, the functions that ran, state before and after, calls and
operations.

In: a model and its pass. Out: observations. Nothing here decides whether something is a problem.
"""
