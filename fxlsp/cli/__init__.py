"""The command ``fxlsp``, with a module for each sub-command.

In: arguments. Out: results on standard output, everything else on standard error, and an exit code that scripts depend
on.
"""
