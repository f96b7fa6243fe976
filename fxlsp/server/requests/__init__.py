"""One file for each request of the protocol, named after it.

In: the request's parameters. Out: its result in LSP types, in the form that the editor supports.
"""
