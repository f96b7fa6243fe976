"""Fake workers, and checks that nothing of them is left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

WORKERS = Path(__file__).parent / "workers"


def worker(name: str) -> Path:
    """The program of a fake worker."""
    return WORKERS / f"{name}.py"


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails a test after which a process or a file descriptor of its own is still there."""
    before, children = _descriptors(), _children()
    yield
    assert _children() <= children
    assert len(_descriptors()) <= len(before)


def _descriptors() -> list[str]:
    return os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []


def _children() -> set[str]:
    """Process ids of the children of this process, zombies included; none where there is no /proc."""
    found: set[str] = set()
    for children in Path("/proc/self/task").glob("*/children"):
        # A thread that ends meanwhile has no children.
        with suppress(FileNotFoundError):
            found.update(children.read_text(encoding="ascii").split())
    return found


async def eventually(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Waits until the condition is true."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        assert loop.time() < end, "it did not become true"
        await asyncio.sleep(0.002)
