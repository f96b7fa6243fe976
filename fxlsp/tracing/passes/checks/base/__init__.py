"""Observations that several checks use.

In: a model and its pass. Out: the result of the pass, the functions that ran, state before and after, calls and
operations. Nothing here decides whether something is a problem.
"""
