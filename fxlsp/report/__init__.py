"""The vocabulary shared by the server and the worker: what a trace found, and the wire it travels on.

This package and :mod:`fxlsp.tracing` also run inside the project's interpreter, under another package name and with
nothing but the standard library (and torch, for ``tracing``) at hand. Hence both import with relative imports alone,
and nothing of the rest of fxlsp.
"""
