"""What a running engine does: takes texts in, plans and runs traces, applies outcomes.

In: the events of an editor. Out: snapshots. An older result never replaces a newer one; work for a closed document is
dropped.
"""
