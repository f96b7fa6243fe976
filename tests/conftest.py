"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.support.warm import fork_servers


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, visibly, what cannot run here."""
    if find_spec("torchvision") is not None:
        return
    for item in items:
        if item.get_closest_marker("torchvision"):
            item.add_marker(pytest.mark.skip(reason="torchvision is not installed"))
