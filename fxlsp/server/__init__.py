"""The Language Server Protocol: one file for each of its features, thin; what they say is made in ``answers``.

Everything runs on one asyncio loop, and no handler waits for work: each answers from the engine's last snapshot.
"""
