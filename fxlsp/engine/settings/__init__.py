"""The settings: defaults, then ``[tool.fxlsp]``, then the editor or the command line, key by key.

In: texts and values. Out: checked, immutable settings, with a problem at each key that is wrong. A wrong value never
stops anything: the next level counts.
"""
