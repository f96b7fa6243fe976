"""Data that outlives a session: the cache of the index, the user's choices, and the folders that the user trusts.

In and out: JSON files in the user's own folders. A file is replaced as a whole, so that a reader sees either the old or
the new one. What is damaged is never believed: a cache is computed anew, choices are those before the last change, and
no folder is trusted.
"""
