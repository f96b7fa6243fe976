"""Waiting for a condition with a limit.

A limit is no expectation of speed: a condition that becomes true ends the wait at once, so limits are long enough for
the slowest machine on which the suite is to pass.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds until a wait fails. Importing torch on a busy machine takes more than ten of them."""

UNTIL = "FXLSP_TESTS_UNTIL"
"""Environment variable with the time, in seconds since the epoch, after which tests are skipped: ``make ready``."""

_POLL = 0.005
"""Seconds between two looks at a condition."""


def eventually(condition: Callable[[], object], what: object = "the condition did not become true") -> None:
    """Wait until the condition is true.

    Args:
        what: the words of the failure; a function is called for them.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, _words(what)
        time.sleep(_POLL)


async def eventually_async(condition: Callable[[], object], what: object = "the condition did not become true") -> None:
    """Wait until the condition is true, while the running loop goes on; arguments as in :func:`eventually`."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, _words(what)
        await asyncio.sleep(_POLL)


def _words(what: object) -> str:
    return f"not within {PATIENCE:.0f} s: {what() if callable(what) else what}"
