"""Sandbox of traced files: refused side effects, and replacements.

In: a process that is about to run user code. Out: the same process without sockets, subprocesses, writes outside its
scratch folder, accelerators and weights. Every replacement is made before the first line of user code runs.
"""
