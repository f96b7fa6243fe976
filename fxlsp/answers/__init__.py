"""What a hover, a lens, a hint, a problem and a symbol say: plain dataclasses with spans and text, no LSP types.

Each answer is computed from one :class:`~fxlsp.engine.state.snapshot.Snapshot` and waits for nothing.
"""
