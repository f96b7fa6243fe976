"""The models of one file: classes that make modules, their ``forward``, and what the file offers to others.

In: a document. Out: models with their spans, and a summary of the file in plain data that no longer needs its tree.
"""
