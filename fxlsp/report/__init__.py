"""Vocabulary shared by server and worker: the result of a trace, and its JSON.

This package, :mod:`fxlsp.wire` and :mod:`fxlsp.tracing` also run inside the project's interpreter, under another
package name and with nothing but the standard library (and torch, for ``tracing``) available. Therefore they use
relative imports only, and import nothing from the rest of fxlsp.
"""
