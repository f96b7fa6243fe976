"""The editors that the tests and the pictures need: finding, installing and driving them.

In: a machine. Out: an editor that runs, or the reason why there is none. Nothing here is imported by the package.
"""
