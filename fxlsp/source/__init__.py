"""Python text as the editor holds it: positions, documents, edits, the models in a file and how it makes them.

In: texts and edits. Out: spans, names, models and recipes. Nothing here runs user code or knows the protocol, and
everything works on text that does not parse.
"""
