"""What an operation requires of its operands.

In goes an operation that failed: its target, its arguments, the module that it calls. Out comes the mismatch: which
size does not fit which, in one line, and operands that would fit. Everything is computed from shapes, dtypes and the
attributes of layers, never from the text of an exception. Where no rule applies, there is no mismatch.
"""
