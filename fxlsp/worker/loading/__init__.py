"""Loads a workspace file as it stands in the editor, and runs of it only what a model needs.

In: a path, the names that are wanted, and the texts. Out: modules in which these names are bound. A statement runs once
at most, in the order of the file, and every file of the workspace is loaded in this way, whoever imports it.
"""
