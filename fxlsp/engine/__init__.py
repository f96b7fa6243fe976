"""Keeps traces of the open models up to date: processes that trace, a schedule, and snapshots of what they found.

In: texts, edits and settings. Out: immutable snapshots. Nothing here knows LSP, and nothing here runs user code: that
happens in the processes behind :mod:`fxlsp.engine.connection`. One asyncio loop changes everything, and nothing blocks
it.
"""
