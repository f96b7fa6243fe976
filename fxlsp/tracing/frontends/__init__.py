"""Verdicts of torch.export and torch.compile on a model, beside that of torch.fx.

In: a model that was built with data, and its inputs. Out: one verdict, with torch's own words at the user's
expressions. What torch does is not changed: it is watched, and asked as a user would ask it.
"""
