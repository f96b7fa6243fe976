"""The only readers of bytecode: which instruction runs, where it is in the text, and what it does.

In: frames, tracebacks and code of CPython 3.10 to 3.13. Out: named facts. What the opcodes of a later CPython do is
reported as unknown, never guessed. ``tests/tracing/model/locations/test_bytecode.py`` compiles and runs a table of
sources for them, on each Python of the matrix. Offsets are in bytes from the start of the code.
"""
