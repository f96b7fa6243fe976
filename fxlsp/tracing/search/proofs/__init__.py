"""Proof that a model fails whatever it is given.

In: a failed trial, and a function that runs others. Out: whether the failure is the model's own. *Reasons* say why a
trial failed, and the *proof* varies what was guessed. What is not known counts as not proven.
"""
