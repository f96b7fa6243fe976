"""The first line of an operation that fails says which size does not fit which, from shapes and layers alone."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.support.marked import PREAMBLE


@dataclass(frozen=True)
class Mistake:
    body: str
    """The expression that fails."""
    inputs: str
    """Shapes of ``x`` and ``y``, or expressions that make them."""
    headline: str
    init: str = "pass"
    output: object = None
    """Shape that is assumed for the result; None if it is unknown or of no interest."""


def layer(made: str, inputs: str, headline: str, output: object = None) -> Mistake:
    return Mistake("self.down(x)", inputs, headline, f"self.down = nn.{made}", output)


def two(body: str, inputs: str, headline: str, output: object = None) -> Mistake:
    return Mistake(body, inputs, headline, output=output)


LAYERS = [
    layer("Linear(30, 5)", "(2, 16, 20)", "layer `down` takes 30 features, got 20", [2, 16, 5]),
    layer(
        "Linear(128, 10)",
        "(2, 8, 4, 4)",
        "layer `down` takes 128 features, got 4: the input (2, 8, 4, 4) is not flattened",
        [2, 10],
    ),
    layer("Bilinear(4, 5, 6)", "(2, 3)", "layer `down` takes 4 features of its input1, got 3"),
    layer("Conv1d(16, 4, 3)", "(2, 8, 9)", "layer `down` takes 16 channels, got 8", [2, 4, 7]),
    layer("Conv2d(64, 4, 3, 2, 1)", "(2, 32, 8, 8)", "layer `down` takes 64 channels, got 32", [2, 4, 4, 4]),
    layer("Conv3d(3, 4, 3)", "(2, 1, 8, 8, 8)", "layer `down` takes 3 channels, got 1", [2, 4, 6, 6, 6]),
    layer("Conv2d(8, 4, 3, groups=4)", "(2, 6, 8, 8)", "layer `down` takes 8 channels, got 6", [2, 4, 6, 6]),
    layer("ConvTranspose2d(64, 4, 2, 2)", "(2, 32, 8, 8)", "layer `down` takes 64 channels, got 32", [2, 4, 16, 16]),
    layer(
        "Conv2d(3, 4, 3)",
        "(2, 9, 9, 3)",
        "layer `down` takes 3 channels, got 9: the input (2, 9, 9, 3) has 3 in its last dimension",
        [2, 4, 7, 7],
    ),
    layer(
        "Conv2d(3, 4, 3)",
        "(2, 3)",
        "layer `down` takes 4 dimensions (batch, channels, height, width), got 2: (2, 3)",
    ),
    layer("Conv2d(3, 4, 5)", "(2, 3, 4, 4)", "layer `down` has a window of 5 x 5, got an input of 4 x 4", [2, 4, 1, 1]),
    layer(
        "Conv2d(3, 4, 3, padding=1, dilation=4)",
        "(2, 3, 4, 4)",
        "layer `down` has a window of 9 x 9, got a padded input of 6 x 6",
        [2, 4, 1, 1],
    ),
    layer("MaxPool2d(2)", "(2, 3, 1, 1)", "layer `down` has a window of 2 x 2, got an input of 1 x 1", [2, 3, 1, 1]),
    layer("AvgPool1d(4)", "(2, 3, 2)", "layer `down` has a window of 4, got an input of 2", [2, 3, 1]),
    layer("BatchNorm1d(16)", "(2, 8)", "layer `down` takes 16 channels, got 8", [2, 16]),
    layer("BatchNorm2d(16)", "(2, 8, 4, 4)", "layer `down` takes 16 channels, got 8", [2, 16, 4, 4]),
    layer("BatchNorm2d(16)", "(2, 16)", "layer `down` takes 4 dimensions, got 2: (2, 16)"),
    layer("InstanceNorm2d(16, affine=True)", "(2, 8, 4, 4)", "layer `down` takes 16 channels, got 8"),
    layer("GroupNorm(4, 16)", "(2, 8, 4, 4)", "layer `down` takes 16 channels, got 8", [2, 16, 4, 4]),
    layer("LayerNorm(16)", "(2, 4, 8)", "layer `down` takes 16 in the last dimension, got 8", [2, 4, 16]),
    layer("RMSNorm(16)", "(2, 4, 8)", "layer `down` takes 16 in the last dimension, got 8", [2, 4, 16]),
    layer("LayerNorm((4, 8))", "(2, 4, 9)", "layer `down` takes (4, 8) as the last dimensions, got (2, 4, 9)"),
    layer("Embedding(10, 4)", "(2, 3)", "layer `down` takes indices of an integer type, got float32", [2, 3, 4]),
    layer("LSTM(16, 4)", "(2, 3, 8)", "layer `down` takes 16 features, got 8", [[2, 3, 4], [[1, 3, 4], [1, 3, 4]]]),
    layer("GRUCell(16, 4)", "(2, 8)", "layer `down` takes 16 features, got 8", [2, 4]),
    Mistake(
        "self.attend(x, x, x)",
        "(2, 3, 8)",
        "layer `attend` takes 16 features of its query, got 8",
        "self.attend = nn.MultiheadAttention(16, 4)",
        [[2, 3, 16], [3, 2, 2]],
    ),
    Mistake(
        "self.attend(x, x, x, attn_mask=y)",
        "(2, 3, 16), (2, 3, 3)",
        "layer `attend` takes an attn_mask of (3, 3), or of (8, 3, 3) for each head of each sample, got (2, 3, 3)",
        "self.attend = nn.MultiheadAttention(16, 4, batch_first=True)",
        [[2, 3, 16], [2, 3, 3]],
    ),
    Mistake(
        "self.attend(x, x, x, key_padding_mask=y)",
        "(2, 3, 16), (2, 3)",
        "layer `attend` takes a key_padding_mask of (3, 2), got (2, 3)",
        "self.attend = nn.MultiheadAttention(16, 4)",
        [[2, 3, 16], [3, 2, 2]],
    ),
    Mistake(
        "self.down(x, y)",
        "(7, 2, 16), (1, 7, 4)",
        "layer `down` takes a state of (1, 2, 4) for a batch of 2, got (1, 7, 4)",
        "self.down = nn.GRU(16, 4)",
        [[7, 2, 4], [1, 2, 4]],
    ),
    Mistake(
        "self.down(x, (torch.zeros(4, 2, 4), y))",
        "(2, 7, 16), (2, 2, 4)",
        "layer `down` takes a state of (4, 2, 4) for a batch of 2, got (2, 2, 4)",
        "self.down = nn.LSTM(16, 4, num_layers=2, bidirectional=True, batch_first=True)",
        [[2, 7, 8], [[4, 2, 4], [4, 2, 4]]],
    ),
    layer("TransformerEncoderLayer(16, 4)", "(2, 3, 8)", "layer `down` takes 16 features, got 8", [2, 3, 16]),
    layer("PReLU(16)", "(2, 8, 4)", "layer `down` takes 16 channels, got 8"),
    layer("Softmax(dim=3)", "(2, 8, 4)", "layer `down` along dim 3 of a tensor with 3 dimensions, (2, 8, 4)"),
    layer("Linear(4, 4).half()", "(2, 4)", "layer `down` has float16 weights, got float32", [2, 4]),
    layer("Linear(4, 4)", "torch.ones(2, 4).long()", "layer `down` has float32 weights, got int64", [2, 4]),
    layer("Linear(4, 4)", "torch.ones(3, dtype=torch.long)", "layer `down` has float32 weights, got int64"),
    Mistake(
        "self.loss(x, y)",
        "(8, 10), torch.ones(4).long()",
        "layer `loss` of an input (8, 10) takes a target of (8,), got (4,)",
        "self.loss = nn.CrossEntropyLoss()",
        [],
    ),
    Mistake(
        "self.loss(x, y)",
        "(8, 3), (8, 2)",
        "layer `loss` of (8, 3) and (8, 2): 3 != 2 in dimension 1",
        "self.loss = nn.MSELoss()",
        [],
    ),
    Mistake(
        "self.loss(x, y)",
        "(8, 1), (8,)",
        "layer `loss` takes a target of the shape of its input, (8, 1), got (8,)",
        "self.loss = nn.BCEWithLogitsLoss()",
        [],
    ),
    Mistake(
        "self.blocks[1](x)",
        "(2, 20)",
        "layer `blocks.1` takes 30 features, got 20",
        "self.blocks = nn.ModuleList([nn.Identity(), nn.Linear(30, 5)])",
        [2, 5],
    ),
]

PRODUCTS = [
    two("x @ y", "(2, 16), (8, 4)", "matrix product of (2, 16) and (8, 4): 16 != 8", [2, 4]),
    two("torch.matmul(x, y)", "(5, 2, 16), (8, 4)", "matrix product of (5, 2, 16) and (8, 4): 16 != 8", [5, 2, 4]),
    two(
        "x @ y",
        "(3, 4), (5, 4)",
        "matrix product of (3, 4) and (5, 4): 4 != 5, the second one transposed fits",
        [3, 5],
    ),
    two("torch.mm(x, y)", "(5, 2, 3), (3, 4)", "matrix product of (5, 2, 3) and (3, 4): `mm` takes 2 and 2 dimensions"),
    two(
        "torch.bmm(x, y)",
        "(2, 3, 4), (5, 4, 6)",
        "matrix product of (2, 3, 4) and (5, 4, 6): 2 != 5 in the batch dimensions",
    ),
    two(
        "torch.addmm(torch.zeros(4), x, y)", "(2, 16), (8, 4)", "matrix product of (2, 16) and (8, 4): 16 != 8", [2, 4]
    ),
    two("x @ y.half()", "(2, 4), (4, 3)", "matrix product of float32 and float16", [2, 3]),
    two("F.linear(x, y)", "(2, 5), (3, 4)", "`linear` takes 4 features, got 5", [2, 3]),
    two("F.conv2d(x, y)", "(2, 5, 8, 8), (3, 4, 3, 3)", "`conv2d` takes 4 channels, got 5", [2, 3, 6, 6]),
    two(
        "torch.einsum('bij,bjk->bik', x, y)",
        "(2, 3, 16), (2, 8, 5)",
        "einsum 'bij,bjk->bik': j is 16 in operand 1 and 8 in operand 2",
        [2, 3, 5],
    ),
    two(
        "torch.einsum('ij->ji', x)",
        "(2, 3, 16)",
        "einsum 'ij->ji' has 'ij' for the 3 dimensions (2, 3, 16) of operand 1",
    ),
    two(
        "F.scaled_dot_product_attention(x, y, y)",
        "(2, 4, 5, 16), (2, 4, 5, 8)",
        "`scaled_dot_product_attention` has queries with 16 features and keys with 8",
        [2, 4, 5, 8],
    ),
    two(
        "F.cross_entropy(x, y)",
        "(8, 10), torch.ones(8)",
        "`cross_entropy` takes class indices of type int64, got float32",
        [],
    ),
]

ELEMENTWISE = [
    two("x + y", "(2, 16, 8), (2, 4, 8)", "(2, 16, 8) + (2, 4, 8): 16 != 4 in dimension 1", [2, 16, 8]),
    two("x * y", "(2, 3, 8), (7,)", "(2, 3, 8) * (7,): 8 != 7 in dimension -1", [2, 3, 8]),
    two("x.sub(y)", "(2, 3), (2, 4)", "(2, 3) - (2, 4): 3 != 4 in dimension 1"),
    two("x > y", "(2, 3), (2, 4)", "(2, 3) > (2, 4): 3 != 4 in dimension 1"),
    two("torch.maximum(x, y)", "(2, 3), (2, 4)", "`maximum` of (2, 3) and (2, 4): 3 != 4 in dimension 1"),
    two("torch.where(x > 0, x, y)", "(2, 3), (5, 3)", "`where` of (2, 3), (2, 3) and (5, 3): 2 != 5 in dimension 0"),
    two("x.add_(y)", "(1, 8), (2, 8)", "(1, 8) += (2, 8): the result (2, 8) does not fit into (1, 8)", [1, 8]),
    two("F.mse_loss(x, y)", "(8, 3), (8, 2)", "`mse_loss` of (8, 3) and (8, 2): 3 != 2 in dimension 1"),
    two(
        "F.binary_cross_entropy_with_logits(x, y)",
        "(8, 1), (8,)",
        "`binary_cross_entropy_with_logits` takes a target of the shape of its input, (8, 1), got (8,)",
        [],
    ),
    two(
        "torch.cat([x, y], dim=1)",
        "(2, 4, 8, 8), (2, 6, 7, 8)",
        "`cat` of (2, 4, 8, 8) and (2, 6, 7, 8) along dimension 1: operand 2 has 7 in dimension 2, the first has 8",
        [2, 10, 8, 8],
    ),
    two("torch.cat([x, y])", "(2, 4), (2,)", "`cat` of (2, 4) and (2,): operand 2 has 1 dimensions, the first has 2"),
    two(
        "torch.stack([x, y])",
        "(2, 4), (2, 5)",
        "`stack` of (2, 4) and (2, 5) along dimension 0: operand 2 has 5 in dimension 1, the first has 4",
        [2, 2, 4],
    ),
]

SHAPES = [
    two("x.view(2, 30)", "(2, 8, 4)", "`view` of (2, 8, 4) as (2, 30): 64 elements, not 60", [2, 30]),
    two(
        "x.view(-1, 400)", "(2, 16, 6, 6)", "`view` of (2, 16, 6, 6) as (-1, 400): 1152 elements are no multiple of 400"
    ),
    two("torch.reshape(x, (5, -1))", "(2, 8)", "`reshape` of (2, 8) as (5, -1): 16 elements are no multiple of 5"),
    two(
        "x.transpose(1, 2).view(2, 12)",
        "(2, 3, 4)",
        "`view` of (2, 4, 3) as (2, 12): the elements are in another order in memory, use reshape",
        [2, 12],
    ),
    two("x.unflatten(1, (3, 5))", "(2, 16)", "`unflatten` of dimension 1 of (2, 16) into (3, 5): 16 != 15", [2, 3, 5]),
    two("x.expand(2, 5)", "(2, 3)", "`expand` of (2, 3) to (2, 5): 3 != 5 in dimension 1", [2, 5]),
    two("x.permute(0, 2, 1)", "(2, 3, 4, 5)", "`permute` of (2, 3, 4, 5) by (0, 2, 1): 3 numbers for 4 dimensions"),
    two("x.permute(0, 2, 3)", "(2, 3, 4)", "`permute` of (2, 3, 4) by (0, 2, 3): dim 3 of a tensor with 3 dimensions"),
    two("x.transpose(1, 3)", "(2, 3, 4)", "`transpose` along dim 3 of a tensor with 3 dimensions, (2, 3, 4)"),
    two(
        "torch.softmax(x, dim=3)",
        "(2, 16, 8)",
        "`softmax` along dim 3 of a tensor with 3 dimensions, (2, 16, 8)",
        [2, 16, 8],
    ),
    two("x.sum(2)", "(2, 3)", "`sum` along dim 2 of a tensor with 2 dimensions, (2, 3)"),
    two("x.mean(dim=(2, 3))", "(2, 3)", "`mean` along dim 2 of a tensor with 2 dimensions, (2, 3)"),
    two("x.mean()", "torch.ones(2, 3).long()", "`mean` takes floating-point numbers, got int64", []),
    two("x.unsqueeze(4)", "(2, 3)", "`unsqueeze` along dim 4 of a tensor with 2 dimensions, (2, 3)"),
    two("x.split([8, 4], 1)", "(2, 16)", "`split` of dimension 1 of (2, 16) into [8, 4]: 12 != 16", [[2, 8], [2, 4]]),
    two("x[5]", "(3, 4)", "index 5 of dimension 0 of (3, 4), which has 3", [4]),
    two("x[:, -5]", "(3, 4)", "index -5 of dimension 1 of (3, 4), which has 4", [3]),
    two("x[..., 4]", "(3, 4)", "index 4 of dimension 1 of (3, 4), which has 4", [3]),
    two("x[0, 0, 0]", "(3, 4)", "3 indices of a tensor with 2 dimensions, (3, 4)"),
    two("x.shape[3]", "(3, 4)", "index 3 of a Size of 2 items"),
    two("x.chunk(2, 1)[2]", "(3, 4)", "index 2 of a tuple of 2 items"),
    two("x.gather(1, y)", "(3, 4), (3, 4)", "`gather` takes an index of an integer type, got float32", [3, 4]),
]

METHODS = [
    Mistake(
        "self.down(x.mean)",
        "(2, 8)",
        "`mean` is a method of a tensor and is not called: write `mean(...)`",
        "self.down = nn.Linear(8, 4)",
    ),
    two("torch.relu(x.sum)", "(2, 8)", "`sum` is a method of a tensor and is not called: write `sum(...)`"),
    two("x.view(x.size, 2)", "(2, 8)", "`size` is a method of a tensor and is not called: write `size(...)`"),
    two("x + x.mean", "(2, 8)", "`mean` is a method of a tensor and is not called: write `mean(...)`"),
]

WORDS_OF_TORCH = [
    two("x.shap", "(2, 3)", "'Tensor' object has no attribute 'shap'; did you mean shape?"),
    two("x.no_such(3)", "(2, 3)", "'Tensor' object has no attribute 'no_such'"),
]


def shape_of(output: Any) -> object:
    if output is None:
        return None
    return output["shape"] if "shape" in output else [shape_of(item) for item in output["list"]]


def made(inputs: str) -> list[str]:
    """Expressions of the inputs; a bare shape is a tensor of it."""
    depth, parts, start = 0, [], 0
    for index, character in enumerate(inputs + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append(inputs[start:index].strip())
            start = index + 1
    return [f"torch.ones({part})" if part.startswith("(") else part for part in parts]


@pytest.fixture
def traced(worker: Any, write: Callable[..., str]) -> Callable[[list[Mistake]], Report]:
    """Traces all mistakes as children of one model, each in a ``forward`` of its own."""

    def traced(mistakes: list[Mistake]) -> Report:
        text, calls, arguments, children = PREAMBLE, [], [], []
        for number, mistake in enumerate(mistakes):
            parts = made(mistake.inputs)
            names = ("x", "y")[: len(parts)]
            text += (
                f"class M{number}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                f"        {mistake.init}\n\n"
                f"    def forward(self, {', '.join(names)}):\n        return {mistake.body}\n\n"
            )
            children.append(f"        self.m{number} = M{number}()\n")
            own = [f"{name}{number}" for name in names]
            calls.append(f"self.m{number}({', '.join(own)})")
            arguments += list(zip(own, parts, strict=True))
        text += (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"{''.join(children)}\n    def forward(self, {', '.join(name for name, _ in arguments)}):\n"
            f"        return [{', '.join(calls)}]\n"
        )
        report: Report = worker.report(
            write(textwrap.dedent(text)) + ":Net", "Net()", ", ".join(part for _, part in arguments)
        )
        return report

    return traced


@pytest.mark.parametrize("group", ["LAYERS", "PRODUCTS", "ELEMENTWISE", "SHAPES", "METHODS", "WORDS_OF_TORCH"])
def test_the_headline_says_what_does_not_fit_what(group: str, traced: Callable[[list[Mistake]], Report]) -> None:
    mistakes: list[Mistake] = globals()[group]
    report = traced(mistakes)
    failing = [problem for problem in report.problems if problem.code in ("FX401", "FX403")]
    failing.sort(key=lambda problem: problem.location.line if problem.location is not None else 0)
    first_lines = [problem.message.split("\n")[0].partition(" (AttributeError")[0] for problem in failing]
    assert first_lines == [mistake.headline for mistake in mistakes]
    outputs = {call.module_path: call.output for call in report.calls}
    for number, mistake in enumerate(mistakes):
        assert mistake.output is None or shape_of(outputs[f"m{number}"]) == mistake.output, mistake
