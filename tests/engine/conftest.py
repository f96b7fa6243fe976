"""Fake supervisors, and checks that their processes and files are released."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

WORKERS = Path(__file__).parent / "workers"


def worker(name: str) -> Path:
    """Return the program of a fake supervisor."""
    return WORKERS / f"{name}.py"


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a process or an open file descriptor."""
    before, children = _descriptors(), _children()
    yield
    assert _children() <= children
    assert len(_descriptors()) <= len(before)


def _descriptors() -> list[str]:
    return os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []


def _children() -> set[str]:
    """Return ids of this process's children, zombies included; none without /proc."""
    found: set[str] = set()
    for children in Path("/proc/self/task").glob("*/children"):
        # A thread that has ended meanwhile has no children.
        with suppress(FileNotFoundError):
            found.update(children.read_text(encoding="ascii").split())
    return found
