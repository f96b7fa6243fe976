"""Tracing of models with torch.fx under the project's interpreter.

In: requests of the wire. Out: one report or failure for each. The package runs under another name (see ``bootstrap``)
with nothing but the standard library and torch. It depends on torch and on nothing of editors, and runs user code in
workers only. Its folders are what a trace consists of; each imports only those above it in ``tests/test_layers.py``.
"""
