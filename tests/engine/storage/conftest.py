"""Each store in turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.storage.stores import STORES, Stored


@pytest.fixture(autouse=True)
def files_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxlsp.engine.index.skip_cache._CLOCK_TICK_NS", -(10**18))


@pytest.fixture(params=STORES, ids=lambda store: store.__name__)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Stored:
    made: Stored = request.param(tmp_path)
    return made
