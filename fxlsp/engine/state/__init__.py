"""State of a session: documents, models, recipes, reports, and their relations.

In: changes. Out: an immutable :class:`~fxlsp.engine.state.snapshot.Snapshot`. No function here starts
anything or waits for a process, though some ask the file system; only the loop of the session changes the state.
"""
