"""What the names and expressions of one file stand for, as far as its text tells.

In: a document. Out: scopes, bindings, imports, classes, and expressions written in other words. An answer is certain or
None: nothing is run, and nothing is guessed.
"""
