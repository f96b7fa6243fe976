"""A session at work: takes texts in, plans and runs traces, and applies what comes of them.

In: the events of an editor. Out: snapshots. An older result never replaces a newer one; work of a closed document is
dropped.
"""
