"""The models of one file, their ``forward``, and a summary for the index.

In: a document. Out: models with their spans, and a summary of the file as plain data, independent of its tree.
"""
