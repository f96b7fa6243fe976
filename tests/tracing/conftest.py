"""Fixtures: workers that trace with torch, and model files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.worker import Worker


@pytest.fixture(scope="session")
def worker(warm: None) -> Iterator[Worker]:
    worker = Worker(warm=True)
    yield worker
    worker.close()


@pytest.fixture(scope="session")
def spawning_worker() -> Iterator[Worker]:
    worker = Worker(spawn=True)
    yield worker
    worker.close()


@pytest.fixture(params=["worker", "spawning_worker"])
def any_worker(request: pytest.FixtureRequest) -> Worker:
    """Return a worker of each kind: forked and spawned."""
    worker: Worker = request.getfixturevalue(request.param)
    return worker


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a model file and returns its path."""

    def write(text: str, name: str = "model.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write
