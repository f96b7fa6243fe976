"""What a hover says about an expression, a class, a module, a variable or a problem; also as a comment in the code.

In: a place. Out: text whose first line says most. Where nothing ran, nothing is claimed.
"""
