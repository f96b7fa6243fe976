"""What a hover, a lens, a hint, a problem and a symbol say: plain dataclasses with spans and text, no LSP types.

In: a :class:`~fxlsp.engine.state.snapshot.Snapshot` and a place. Out: an answer, computed at once. Nothing here waits,
and nothing changes the session.
"""
