"""Programs that compile: torch compiles its own functions, and not those of the recorder."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn

from tests.recording.conftest import Record
from tests.recording.test_recorder import NET, tensor


def test_a_compiled_program_is_compiled_whole_and_its_first_call_is_recorded(record: Record) -> None:
    call = nn.Module.__call__
    recorded = record(NET)
    net, x = recorded.module.Net(4), torch.randn(2, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled: Any = torch.compile(net, backend="eager", fullgraph=True)
        for _ in range(3):
            result = compiled(x)
    assert nn.Module.__call__ is call
    assert torch.equal(result, net(x))
    assert recorded.instances()["Net"][0].calls[0].args == (tensor(2, 4),)


def test_a_compiled_function_that_calls_a_module_is_compiled_whole(record: Record) -> None:
    recorded = record(NET)
    net, x = recorded.module.Net(4), torch.randn(2, 4)

    def step(value: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = net(value) + 1
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = torch.compile(step, backend="eager", fullgraph=True)
        assert torch.equal(compiled(x), step(x))
