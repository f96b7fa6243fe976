"""Settings: defaults, then ``[tool.fxlsp]``, then editor or command line, by key.

In: texts and values. Out: checked, immutable settings, with a problem for each key whose value is wrong. A wrong value
is skipped: the level before it applies.
"""
