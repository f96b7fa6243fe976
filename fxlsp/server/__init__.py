"""The Language Server Protocol, one short file a method.

In: messages of an editor. Out: answers from the engine's last snapshot, whose content comes from :mod:`fxlsp.ide`.
Everything runs on one asyncio loop, and no handler waits for work.
"""
