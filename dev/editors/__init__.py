"""Installation and control of the editors that tests and pictures need.

In: a machine. Out: an editor that runs, or the reason why there is none. Nothing here is imported by the package.
"""
