"""Partial execution of workspace files: only what a model needs runs.

In: a path, the requested names, and the texts of the editor. Out: modules in which these names are bound. A statement
runs at most once, in the order of the file, and every workspace file is loaded this way, whichever module imports it.
"""
