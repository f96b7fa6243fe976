"""What a session knows: documents, models, recipes, reports, and how they belong together.

In: what has changed. Out: an immutable :class:`~fxlsp.engine.state.snapshot.Snapshot`. Nothing here waits or starts
anything; only the loop of the session changes its state.
"""
