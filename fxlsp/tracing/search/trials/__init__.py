"""Trials: pairs of guesses that know their Python text, and their runs on fake tensors.

In: a trial and what it is run with. Out: how it ended, with what it asked of duck values and the calls of torch that it
made. Which trial comes next is not decided here.
"""
