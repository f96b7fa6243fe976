"""``fxlsp check``: the problems of all models in files and folders.

In: paths. Out: each problem once, after suppressions, and the result of each model. Models that create others are
traced first.
"""
