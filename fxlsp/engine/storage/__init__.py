"""Data that outlives a session: the cache of the index and the user's choices.

In and out: JSON files in the user's own folders. A file is replaced as a whole, so that a reader sees either the old or
the new one; a file that cannot be read counts as missing.
"""
