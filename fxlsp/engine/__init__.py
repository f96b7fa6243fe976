"""Keeps traces of the open models up to date: processes that trace, a schedule, and a store of what they found.

Nothing here knows LSP, and nothing here runs code of the user: that happens in the processes behind
:mod:`fxlsp.engine.template`. Everything runs on one asyncio loop, which nothing here blocks.
"""
