"""The names that files of pytorch-jit-paritybench import from this helper.

They are those that a model uses, written anew from what the files do with them: the original imports a test suite of
torch and a compiler, seconds for each process, for its own measurements.
"""

from __future__ import annotations

from typing import Any

import _corpus_old_names  # type: ignore[import-not-found]  # noqa: F401 - imported for what it does
import torch


class _mock_config(dict[str, Any]):  # noqa: N801 - the name that the files import
    """A configuration whose keys are attributes."""

    __getattr__ = dict.__getitem__


class _Layer(torch.nn.ReLU):
    """A layer for files that need one of any kind."""

    expansion = 1


def _mock_layer(in_features: int | None = None, out_features: int | None = None, *args: Any, **kwargs: Any) -> Any:
    """Return a linear layer if both sizes are passed."""
    return torch.nn.Linear(in_features, out_features, **kwargs) if in_features and out_features else _Layer()


class _paritybench_base:  # noqa: N801
    """Base of the files' test classes, which are not run here."""


def _fails_compile() -> Any:
    return lambda test: test


def patch_functional() -> None:
    """Do nothing: the names are merged when this is imported.

    The call is for every model of the file, whatever part of the file is run.
    """


def _merge_functional() -> None:
    """Add to ``torch.functional`` and ``torch.nn.functional`` each other's names.

    Files call both of them ``F``.
    """
    one, other = torch.functional, torch.nn.functional
    names = {name: module for module in (one, other) for name in dir(module) if name[0].islower()}
    for name, module in names.items():
        for place in (one, other):
            if not hasattr(place, name):
                setattr(place, name, getattr(module, name))


_merge_functional()
