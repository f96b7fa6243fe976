"""Python text as the editor holds it: positions, documents, edits, the models in a file and how it makes them.

Nothing here runs user code or knows the protocol; everything works on text that does not parse.
"""
