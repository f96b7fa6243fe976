"""``fxlsp check``: the problems of all models in files and folders.

In: paths. Out: each problem once, after suppressions, and what came of each model. Models that make others come first.
"""
