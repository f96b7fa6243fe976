"""What torch.fx refuses inside a layer of torch.nn says so, and why the layer is entered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem
from tests.support.worker import Worker

HEAD = """
import torch
from torch import nn


class Layer(nn.TransformerEncoderLayer):
    pass


class Twice(nn.TransformerEncoderLayer):
    def forward(self, x):
        return super().forward(x) * 2


class Attention(nn.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x)[0]


class Recurrent(nn.LSTM):
    pass


class Gate(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {made}

    def forward(self, x):
        return {run}
"""


def refused(worker: Worker, path: str, model: str = "Net()") -> Problem:
    report = worker.report(f"{path}:{model.partition('(')[0]}", model, "torch.ones(2, 5, 8)")
    return next(each for each in report.problems if each.code == "FX101")


@pytest.mark.parametrize(
    ("made", "run", "name", "own"),
    [
        ("Layer(8, 2, batch_first=True)", "self.layer(x)", "TransformerEncoderLayer", "Layer"),
        ("Twice(8, 2)", "self.layer(x)", "TransformerEncoderLayer", "Twice"),
        ("Attention(8, 2)", "self.layer(x)", "MultiheadAttention", "Attention"),
        ("Recurrent(8, 4)", "self.layer(x)[0]", "LSTM", "Recurrent"),
        ("nn.Sequential(Layer(8, 2))", "self.layer(x)", "TransformerEncoderLayer", "Layer"),
    ],
)
def test_a_subclass_of_a_layer_is_named(
    made: str, run: str, name: str, own: str, worker: Worker, write: Callable[..., str]
) -> None:
    found = refused(worker, write(HEAD.format(made=made, run=run)))
    why = f"which torch.fx enters because {own} is a subclass of it: only torch's own layers are one node."
    assert f"\nThis is inside torch's own {name}, {why}" in found.message


def test_a_layer_whose_forward_is_called_is_named(worker: Worker, write: Callable[..., str]) -> None:
    text = HEAD.format(made="nn.TransformerEncoderLayer(8, 2)", run="self.layer.forward(x)")
    found = refused(worker, write(text))
    assert "torch's own TransformerEncoderLayer, which torch.fx enters because its forward is called" in found.message
    assert found.location is not None
    assert text.splitlines()[found.location.line - 1].strip() == "return self.layer.forward(x)"


def test_a_subclass_that_is_the_model_is_named(worker: Worker, write: Callable[..., str]) -> None:
    found = refused(worker, write(HEAD.format(made="Gate()", run="x")), "Twice(8, 2)")
    assert "torch's own TransformerEncoderLayer, which torch.fx enters because Twice is a subclass" in found.message


@pytest.mark.parametrize("made", ["Gate()", "nn.Sequential(Gate())", "nn.ModuleList([Gate()])[0]"])
def test_a_module_of_the_user_is_no_layer_of_torch(made: str, worker: Worker, write: Callable[..., str]) -> None:
    assert "torch's own" not in refused(worker, write(HEAD.format(made=made, run="self.layer(x)"))).message
