"""The function that runs when a model is called."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable

import pytest
import torch

from fxlsp.tracing.model.building.forward_entry import forward_entry

SCRIPTED = """
import torch

class Net(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x, scale: int):
        return x * scale
"""


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_scripted_method_is_called_without_self(write: Callable[..., str]) -> None:
    entry = forward_entry(runpy.run_path(write(SCRIPTED))["Net"]())
    assert list(inspect.signature(entry).parameters) == ["x", "scale"]
    assert entry(torch.ones(2), 3).tolist() == [3, 3]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_one_that_was_traced_takes_what_it_was_traced_with() -> None:
    traced = torch.jit.trace(torch.nn.Linear(4, 3), torch.ones(2, 4))  # type: ignore[no-untyped-call]
    entry = forward_entry(traced)
    assert list(inspect.signature(entry).parameters) == ["input"]
    assert entry(torch.ones(5, 4)).shape == (5, 3)
