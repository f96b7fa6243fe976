"""Contents of hovers, lenses, hints, problems, fixes and symbols; no LSP types.

In: a :class:`~fxlsp.engine.state.snapshot.Snapshot` and a position. Out: plain dataclasses with spans and text,
computed at once. Nothing here waits, and nothing changes the session.
"""
