"""Analysis of Python text: positions, documents, edits, the models of a file and the recipes it contains.

In: texts and edits. Out: spans, names, models and recipes. Nothing here runs user code or depends on LSP, and
everything accepts text that does not parse.
"""
