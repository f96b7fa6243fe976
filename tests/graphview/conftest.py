"""Reports of real models from the worker, and a browser that shows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dev.editors.chromium import Tab, browser_tab, find_chromium
from fxlsp.report.report import Report
from tests.tracing.conftest import SharedWorker, forking_workers, worker, write

__all__ = ["forking_workers", "worker", "write"]

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def early_exit(forking_workers: SharedWorker) -> Report:
    """Return the report of a model of which torch.fx traces only the beginning."""
    model = f"{PROJECT}/examples/early_exit.py:EarlyExit"
    return forking_workers.get().report(model, "EarlyExit()", "torch.randn(8, 128)")


@pytest.fixture(scope="session")
def resnet(forking_workers: SharedWorker) -> Report:
    """Return the report of a ResNet with three stages of two blocks."""
    inputs = "torch.randn(1, 3, 64, 64)"
    return forking_workers.get().report(f"{PROJECT}/examples/resnet.py:ResNet", "ResNet(10)", inputs)


@pytest.fixture
def report_of(worker: Any, write: Callable[..., str]) -> Callable[[str, str], Report]:
    """Return a function that traces a class ``Net`` of the given text on given inputs."""

    def report_of(text: str, inputs: str) -> Report:
        report: Report = worker.report(f"{write(text)}:Net", "Net()", inputs)
        return report

    return report_of


@pytest_asyncio.fixture
async def tab() -> AsyncIterator[Tab]:
    """Yield a tab of headless Chromium; fail if there were errors in it."""
    program = find_chromium()
    if program is None:
        pytest.skip("LEFT OUT: there is no Chromium: python -m dev.editors.chromium installs it")
    assert program is not None
    async with browser_tab(program) as opened:
        yield opened
        assert opened.errors == []


@pytest.fixture
def engine() -> None:
    """Require the JavaScript engine that runs without a browser."""
    if find_spec("py_mini_racer") is None:
        pytest.skip("LEFT OUT: there is no engine for SVG: pip install 'fxlsp[svg]'")
