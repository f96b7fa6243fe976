"""What all tests share."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator, Iterator
from importlib.util import find_spec

import pytest

from tests.support.running import stacks_below
from tests.support.waiting import UNTIL
from tests.support.warm import fork_servers

_CUT_AGAIN_SECONDS = 120.0
"""Longer than fixtures take to end what a cut test has left."""


@pytest.fixture(scope="session", autouse=True)
def no_choices_in_the_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests choose is not the user's choice; servers that they start inherit this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers and supervisors of this run are forked from processes that have imported what takes time."""
    with fork_servers(tmp_path_factory.mktemp("warm")):
        yield


def pytest_runtest_setup() -> None:
    """Leave out, visibly, what has no time in ``make ready``."""
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip("the time of `make ready` is over")


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer() -> Generator[None, object, object]:
    """Repeat the signal that cuts a test: asyncio swallows one that arrives in a callback."""
    result = yield
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    if left > 0:
        signal.setitimer(signal.ITIMER_REAL, left, _CUT_AGAIN_SECONDS)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a test that was cut what its processes were doing: one of them did not answer."""
    report = yield
    if call.excinfo is not None and "from pytest-timeout" in str(call.excinfo.value):
        report.sections.append(("processes of the test that was cut", stacks_below()))
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, visibly, what cannot run here."""
    if find_spec("torchvision") is not None:
        return
    for item in items:
        if item.get_closest_marker("torchvision"):
            item.add_marker(pytest.mark.skip(reason="torchvision is not installed"))
