"""Documents, notebooks and files on disk as the editor opens, changes and closes them.

In: notifications. Out: calls of the engine. The text that the engine has is the one that the editor shows.
"""
