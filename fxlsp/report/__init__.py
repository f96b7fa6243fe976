"""The vocabulary shared by the server and the worker: what a trace found, and the JSON of that.

This package, :mod:`fxlsp.wire` and :mod:`fxlsp.worker` also run inside the project's interpreter, under another
package name and with nothing but the standard library (and torch, for ``tracing``) at hand. Hence they use relative
imports alone, and import nothing of the rest of fxlsp.
"""
