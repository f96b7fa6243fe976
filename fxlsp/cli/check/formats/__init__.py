"""Forms in which ``fxlsp check`` writes its results for other programs.

In: the outcome of each model and each problem once, after suppressions. Out: the text of standard output. Each form
holds the same problems at the same places; what a form has no field for is left out.
"""
