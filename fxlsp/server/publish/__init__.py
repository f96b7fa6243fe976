"""What the server sends on its own: problems, refreshes, progress and status.

In: a new snapshot. Out: notifications. Only changes are sent, and a problem in one way alone.
"""
