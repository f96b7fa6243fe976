"""What all tests share."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, visibly, what cannot run here."""
    if find_spec("torchvision") is not None:
        return
    for item in items:
        if item.get_closest_marker("torchvision"):
            item.add_marker(pytest.mark.skip(reason="torchvision is not installed"))
