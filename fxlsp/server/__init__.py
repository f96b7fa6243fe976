"""The Language Server Protocol: one file a method, thin; what the answers say is made in :mod:`fxlsp.ide`.

In: messages of an editor. Out: answers from the engine's last snapshot. Everything runs on one asyncio loop, and no
handler waits for work.
"""
