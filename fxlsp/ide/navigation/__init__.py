"""Where a module call leads, who calls a module, and the outline of files and of the workspace.

In: a place or a query. Out: places and symbols. Only what was traced is given, and nothing that a Python server says.
"""
