"""What outlives a session: the cache of the index and the choices of the user, below the user's own folders.

In and out: JSON files. A file is replaced as a whole, so that a reader sees the old one or the new one; one that cannot
be read counts as not there.
"""
