"""Analysis of Python text: documents, edits, models and recipes of a file.

In: texts and edits. Out: spans, names, models and recipes. Nothing here runs user code or depends on LSP, and
everything accepts text that does not parse.
"""
