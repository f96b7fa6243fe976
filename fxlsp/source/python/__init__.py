"""Static analysis of one Python file: the values of its names and expressions.

In: a document. Out: scopes, bindings, imports, classes, and expressions rewritten with other names. A result is certain
or None: nothing is run, and nothing is guessed.
"""
