"""The two passes over a built model, and what is computed from either: checks, sizes as expressions, the merge.

In: a model with its inputs. Out: a report of each pass, and the one that both make together. A pass never decides what
is traced, nor in which process.
"""
