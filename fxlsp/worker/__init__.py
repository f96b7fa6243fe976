"""Loads a model under the project's interpreter, traces it with torch.fx and reports what it found.

In: a request of the wire. Out: one report or failure for each. The package runs under another name (see ``bootstrap``)
with nothing but the standard library and torch, knows torch and nothing of editors, and runs user code in workers only.
Its folders are the stages of a trace; each imports only those above it in ``tests/test_layers.py``.
"""
