"""Property tests without a time limit for one example: the machine that runs them may be busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("source", deadline=None)
settings.load_profile("source")
