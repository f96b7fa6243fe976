"""Requests of the protocol, one file each, named after the request.

In: the request's parameters. Out: its result in LSP types, in the form that the editor supports.
"""
