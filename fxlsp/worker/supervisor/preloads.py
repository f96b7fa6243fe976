"""Importing installed packages ahead of the models that import them."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterable
from contextlib import suppress


def preload(names: Iterable[str]) -> None:
    """Import what can be imported."""
    for name in names:
        # The trace that needs one will say why it cannot be imported, at the line that imports it.
        with suppress(Exception):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
