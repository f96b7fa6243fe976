"""Messages of exceptions hold the words of the user's code, and none that differ from trace to trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.model.diagnosis.failures import message_of, readable
from tests.support.marked import PREAMBLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<object object at 0x7fa959647070>", "<object object>"),
        ("got <function f at 0x7FA959647070>, not 3", "got <function f>, not 3"),
        ("id 0x7fa959647070", "id 0x..."),
        ("flags 0x1f", "flags 0x1f"),
        ("'FakeTensor' object has no attribute 'x'", "'Tensor' object has no attribute 'x'"),
        ("<class 'torch._subclasses.fake_tensor.FakeTensor'>", "<class 'Tensor'>"),
        ("MyFakeTensors are fine", "MyFakeTensors are fine"),
        ("<_fxlsp_tracing.tracing.search.trials.duck.DuckValue object>", "<DuckValue object>"),
    ],
)
def test_addresses_and_names_that_the_code_does_not_have_are_left_out(text: str, expected: str) -> None:
    assert message_of(ValueError(text)) == readable(text) == expected


MODELS = {
    "raised by the model": """
        class Net(nn.Module):
            def forward(self, x):
                raise ValueError("cannot use", object())
        """,
    "raised by its constructor": """
        class Net(nn.Module):
            def __init__(self):
                raise ValueError(f"cannot use {object()}")
        """,
    "an operand": """
        class Net(nn.Module):
            def forward(self, x):
                return x.shape[object()] + torch.cat([x, x.mean])
        """,
    "what torch.fx refuses": """
        class Net(nn.Module):
            def forward(self, x):
                return torch.relu(object())
        """,
}


@pytest.mark.parametrize("name", MODELS)
def test_no_message_holds_an_address(name: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(PREAMBLE + "".join(f"{line[8:]}\n" for line in MODELS[name].splitlines()))
    answer = worker.answer(f"{path}:Net", "Net()", "torch.ones(2, 4)")
    said = str(answer["report"]["problems"] if answer["type"] == "report" else answer["failure"])
    assert "FX" in said
    assert " at 0x" not in said
    assert "FakeTensor" not in said
