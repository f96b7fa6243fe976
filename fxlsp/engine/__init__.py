"""Session without LSP: supervisors, a schedule, and snapshots of results.

In: texts, edits and settings. Out: immutable snapshots with a current trace of each open model. No module here knows
LSP, and none runs user code: that happens in the processes behind :mod:`fxlsp.engine.connection`. One asyncio loop
makes all changes, and nothing blocks it.
"""
