"""What the server sends by itself: problems, refreshes, progress and status.

In: a new snapshot. Out: notifications. An editor hears only of what has changed, and of a problem in one way alone.
"""
