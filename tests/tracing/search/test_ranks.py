"""Inputs that have too many or too few dimensions: of which of several that is so, and how long the others are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.report.report import Report
from fxlsp.tracing.search.rules.ranks_dtypes import reranked
from fxlsp.tracing.search.trials.values import Group, Tensor, Text, Trial, edited
from tests.tracing.search.frames import net


def test_any_but_one_of_several_inputs_may_have_too_many_dimensions() -> None:
    ids = Tensor((2, 16), "long")
    given = Trial(Text("Net()"), Group("inputs", (("a", ids), ("b", ids), ("c", ids))))
    shapes = [
        tuple(len(part.shape) for _, part in each.inputs.items if isinstance(part, Tensor))
        for each in (edited(given, edit) for edit in reranked(given, 4, 3))
        if each.inputs is not None
    ]
    assert shapes == [(1, 2, 2), (2, 1, 2), (2, 2, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)]


def test_where_everything_has_one_size_it_keeps_it_with_another_rank() -> None:
    given = Trial(Text("Net(c=4)"), Group("inputs", (("x", Tensor((4, 4, 4, 4))),)), 4)
    first = edited(given, next(reranked(given, 4, 3)))
    assert first.inputs is not None
    assert first.inputs.text == "torch.randn(4, 4, 4)"


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a = nn.Embedding(50, 8)",
            "one, other, several",
            "y = self.a(one)\nz = (y * self.a(other)).sum(1)\n"
            "return z + torch.bmm(self.a(several), y.unsqueeze(2)).squeeze(2).sum(1)",
            "torch.ones(2, dtype=torch.long), torch.ones(2, dtype=torch.long), torch.ones(2, 16, dtype=torch.long)",
            id="two of three",
        ),
        pytest.param(
            "self.a = nn.Conv2d(1, 4, 5)",
            "x",
            "return self.a(F.pad(x.unsqueeze(1), (2, 2, 2, 2), mode='reflect'))",
            "torch.randn(2, 16, 24)",
            id="a map that is padded",
        ),
        pytest.param(
            "",
            "scores, labels",
            "return F.cosine_embedding_loss(scores, F.one_hot(labels, scores.size(-1)), torch.ones(1))",
            "torch.randn(2, 32), torch.ones(2, dtype=torch.long)",
            id="labels and scores of which the loss takes rows",
        ),
    ],
)
def test_inputs_have_the_rank_that_is_wanted(
    made: str, signature: str, run: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", made or "self.a = 1", signature, run).replace("(self, ):", "(self):")
    assert worker.report(write(text) + ":Net").recipe.inputs == inputs


@pytest.mark.parametrize(
    "line",
    [
        "b, *axes, d = x.shape",
        "b, *axes, d = x.size()",
        "b, *axes, d, device = *x.shape, x.device",
    ],
)
def test_a_number_of_further_dimensions_that_is_asserted_gives_the_rank(
    line: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net(
        "axes=2",
        "self.axes, self.a = axes, nn.Linear(8, 4)",
        "x",
        f"{line}\nassert len(axes) == self.axes, 'axes'\nreturn self.a(x)",
    )
    report = worker.report(write(text) + ":Net")
    assert report.complete
    assert str(report.recipe.inputs).count(",") == 3
    assert str(report.recipe.inputs).endswith(", 8)")


LAYER = """
import torch

class Rearrange(torch.nn.Module):
    def __init__(self, pattern):
        super().__init__()
        self._multirecipe = {len(pattern.split()): pattern}

    def forward(self, x):
        recipe = self._multirecipe[x.ndim]
        return x[:, None]
"""


def test_what_a_layer_of_einops_gets_has_the_rank_of_its_pattern(worker: Any, write: Callable[..., str]) -> None:
    write("", "einops/__init__.py")
    write(LAYER, "einops/layers.py")
    text = "from einops.layers import Rearrange\n" + net(
        "dim, cond_dim",
        "self.a = nn.Linear(dim, dim)\nself.b = nn.Sequential(nn.SiLU(), nn.Linear(cond_dim, dim), Rearrange('b d'))",
        "x, t",
        "return (self.a(x) * self.b(t)).softmax(dim=2)",
    )
    report = worker.report(write(text) + ":Net")
    assert report.complete
    assert str(report.recipe.inputs).endswith("torch.randn(2, 96)")


def test_a_view_that_one_dimension_keeps_from_fitting_gets_that_dimension(
    worker: Any, write: Callable[..., str]
) -> None:
    text = net(
        "dim, heads=4, dim_head=64",
        "self.a = nn.Conv3d(dim, heads * dim_head, 1)",
        "x",
        "b, c, t, h, w = x.shape\nreturn x + self.a(x).reshape(x.shape)",
    )
    assert worker.report(write(text) + ":Net").recipe.init == "Net(dim=256)"


_ENCODED = "self.fc, self.cell = nn.Linear({0}, 32), nn.{1}(32, 32)"
_MAPS = "self.a, self.b = nn.Conv2d(3, {0}, 3, stride=2, padding=1), nn.Conv2d({0}, {0}, 3, stride=2, padding=1)"
_CRITIC = (
    "self.table, self.start = nn.Embedding(classes, 8), nn.Linear(width, 3 * 256)\nself.conv = nn.Conv2d(11, width, 4)"
)
_AGENTS = "b, n, _ = x.shape\nx = self.fc(x)\n"
_LEVELS = "b, c, h, w = x.shape\na = self.a(x)\n"
_OF_LABEL = (
    "x = self.start(x).view(-1, 3, 16, 16)\nc = self.table(y).unsqueeze(-1).unsqueeze(-1)\n"
    "return self.conv(torch.cat([x, c.expand({})], 1))"
)
WRONG = {
    "a GRU cell of agents": (
        ("width", _ENCODED.format("width", "GRUCell"), "x", f"{_AGENTS}return self.cell(x)"),
        ("width", _ENCODED.format("width", "GRUCell"), "x", f"{_AGENTS}return self.cell(x.reshape(b * n, -1))"),
    ),
    "an LSTM cell of agents": (
        ("", _ENCODED.format(24, "LSTMCell"), "x", f"{_AGENTS}h, c = self.cell(x)\nreturn h"),
        ("", _ENCODED.format(24, "LSTMCell"), "x", f"{_AGENTS}h, c = self.cell(x.mean(1))\nreturn h"),
    ),
    "the states of an RNN cell with a dimension in front": (
        ("", _ENCODED.format(24, "RNNCell"), "x", f"{_AGENTS}return self.cell(x[:, 0], x.new_zeros(1, b, 32))"),
        ("", _ENCODED.format(24, "RNNCell"), "x", f"{_AGENTS}return self.cell(x[:, 0], x.new_zeros(b, 32))"),
    ),
    "a map interpolated to a whole shape": (
        ("", _MAPS.format(16), "x", f"{_LEVELS}return a + F.interpolate(self.b(a), size=a.shape)"),
        ("", _MAPS.format(16), "x", f"{_LEVELS}return a + F.interpolate(self.b(a), size=a.shape[-2:])"),
    ),
    "a map interpolated to the shape of an image": (
        ("dim", _MAPS.format("dim"), "x", f"{_LEVELS}return F.interpolate(a, x.size(), mode='nearest')"),
        ("dim", _MAPS.format("dim"), "x", f"{_LEVELS}return F.interpolate(a, (h, w), mode='nearest')"),
    ),
    "a map interpolated to its channels and edges": (
        ("dim", _MAPS.format("dim"), "x", f"{_LEVELS}return F.interpolate(a, size=x.shape[1:])"),
        ("dim", _MAPS.format("dim"), "x", f"{_LEVELS}return F.interpolate(a, size=x.shape[2:])"),
    ),
    "a label expanded to two edges alone": (
        ("classes, width=24", _CRITIC, "x, y", _OF_LABEL.format("-1, x.size(2), x.size(3)")),
        ("classes, width=24", _CRITIC, "x, y", _OF_LABEL.format("-1, -1, x.size(2), x.size(3)")),
    ),
}
_LATE = "x = self.fc(x)\n"
SOUND = {
    "one step that is squeezed": ("", _ENCODED.format(24, "GRUCell"), "x", f"{_LATE}return self.cell(x.squeeze(1))"),
    "one step of a condition": (
        "",
        _ENCODED.format(24, "GRUCell"),
        "x",
        f"b, n, _ = x.shape\n{_LATE}if n == 1: x = x[:, 0]\nreturn self.cell(x)",
    ),
    "steps in a loop": (
        "width",
        _ENCODED.format("width", "GRUCell"),
        "x",
        f"b, t, _ = x.shape\n{_LATE}h = None\nfor i in range(3):\n    h = self.cell(x[:, i], h)\nreturn h",
    ),
    "a function that squeezes": (
        "",
        "self.fc, self.cell = nn.Linear(24, 32), nn.GRUCell(32, 32)\nself.drop = lambda x: x.squeeze(1)",
        "x",
        f"b, n, _ = x.shape\n{_LATE}return self.cell(self.drop(x))",
    ),
    "a depth without a batch": (
        "",
        _MAPS.format(16),
        "x, depth",
        f"{_LEVELS}return F.interpolate(a, size=depth.squeeze().shape)",
    ),
    "a label of two edges": ("", _MAPS.format(16), "x, label", f"{_LEVELS}return F.interpolate(a, size=label.shape)"),
    "a vector expanded to more": (
        "",
        "self.table = nn.Linear(24, 32)",
        "x, y",
        "b, t, d = x.shape\nreturn self.table(x) + self.table(y).expand(b, t, 32)",
    ),
}


_OF_NEWER_TORCH = "a label expanded to two edges alone"
"""With torch 2.6, booleans are the last labels that the search tries, and what fails with them stays a note."""


@pytest.mark.parametrize("what", [each for each in WRONG if each != _OF_NEWER_TORCH or torch.__version__ >= "2.7"])
def test_a_rank_that_no_input_changes_is_an_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    report: Report = worker.report(write(net(*WRONG[what][0])) + ":Net")
    assert [each.severity for each in report.problems if each.code == "FX401"] == ["error"], report.problems


@pytest.mark.parametrize("made", [*(pair[1] for pair in WRONG.values()), *SOUND.values()], ids=[*WRONG, *SOUND])
def test_a_rank_that_inputs_decide_is_no_error(
    made: tuple[str, str, str, str], worker: Any, write: Callable[..., str]
) -> None:
    problems = worker.report(write(net(*made)) + ":Net").problems
    found = [each for each in problems if each.severity in ("error", "warning")]
    assert [each for each in found if not each.code.startswith("FX1")] == []
