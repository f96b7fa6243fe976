"""Targets of module calls, call hierarchy, and outlines of files and workspace.

In: a position or a query. Out: locations and symbols. Only what was traced is given, and nothing that a Python language
server gives already.
"""
