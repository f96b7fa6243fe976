"""Verdicts of torch.export and torch.compile on a model, beside that of torch.fx.

In: a function that builds the model with data, and its inputs. Out: one verdict, with torch's own words at the user's
expressions. What torch does is not changed: it is watched, and asked as a user would ask it.
"""
