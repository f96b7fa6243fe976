"""The promise that nothing is left behind, however an editor ended."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support.leftovers import await_gone, processes


@pytest.fixture
def mark() -> Iterator[str]:
    """Stands in the environment of every process that the test starts. At its end none of them is left."""
    mark = uuid.uuid4().hex
    yield mark
    try:
        await_gone(mark)
    finally:
        # One test that fails must not slow down those after it.
        for process in processes(mark):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
