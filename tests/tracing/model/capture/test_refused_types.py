"""Types of numbers that eager torch refuses, and fake tensors accept, are errors, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.tracing.search.frames import net

TYPES = {"bools": "(x > 0)", "longs": "x.long()", "ints": "x.int()", "bytes": "x.byte()", "floats": "x"}
EXPRESSIONS = (
    "1 - {}",
    "{} - 1",
    "x - {}",
    "{} - x",
    "torch.rsub({}, 1)",
    "{}.sub(x)",
    "x.clone().sub_({})",
    "1 + {}",
    "{} * 2",
    "-x * {}",
    "{} & (x > 1)",
    "(x > 1) | {}",
    "{} ^ {}",
    "~{}",
    "F.softmax({}, -1)",
    "F.softmax({}, -1, dtype=torch.float)",
    "{}.softmax(-1)",
    "F.log_softmax({}, -1)",
    "nn.GELU()({})",
    "F.silu({})",
    "F.relu({})",
    "F.softplus({})",
    "{}.abs()",
    "{}.std()",
    "{}.var(-1)",
    "{}.sum(-1)",
    "{}.argmax(-1)",
    "F.max_pool1d({}, 2)",
    "F.avg_pool1d({}, 2)",
    "F.interpolate({}[None], scale_factor=2)",
    "{} @ {}.t()",
    "torch.einsum('ij,kj->ik', {}, {})",
    "torch.bmm({}[None], {}.t()[None])",
    "torch.lerp({}, {}, 0.5)",
)
"""Each is one line of a ``forward``."""


def _refused(expression: str) -> bool:
    x = torch.ones(4, 8)
    try:
        eval(expression, {"torch": torch, "nn": nn, "F": nn.functional, "x": x})
    except (RuntimeError, TypeError):
        return True
    return False


@pytest.mark.parametrize("types", TYPES)
def test_an_expression_is_an_error_where_eager_torch_refuses_it(
    types: str, worker: Any, write: Callable[..., str]
) -> None:
    expressions = [each.replace("{}", TYPES[types]) for each in EXPRESSIONS]
    lines = [f"y{number} = {each}" for number, each in enumerate(expressions)]
    text = net("", "self.fc = nn.Linear(8, 8)", "x", "\n".join([*lines, "return self.fc(x)"]))
    report = worker.report(write(text) + ":Net", "Net()", "torch.ones(4, 8)")
    shown = {each.location.line for each in report.problems if each.code == "FX401" and each.severity == "error"}
    numbers = {line.strip(): number for number, line in enumerate(text.splitlines(), 1)}
    refused = {line for line, each in zip(lines, expressions, strict=True) if _refused(each)}
    assert {line for line in lines if numbers[line] in shown} == refused


def test_tensors_that_are_too_large_to_be_tried_are_errors_only_where_all_kernels_refuse_them(
    worker: Any, write: Callable[..., str]
) -> None:
    run = (
        "seen = x > 0\npooled = F.avg_pool2d(seen.long(), 2)\nlarger = F.interpolate(seen.byte(), scale_factor=2)\n"
        "return pooled, larger, 1 - seen"
    )
    text = net("", "self.fc = nn.Linear(8, 8)", "x", run)
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(64, 8, 512, 512)")
    (error,) = [each for each in report.problems if each.severity == "error"]
    assert "bool" in error.message
    shapes = [each.output["shape"] for each in report.nodes if each.target.endswith(("avg_pool2d", "interpolate"))]
    assert shapes == [[64, 8, 256, 256], [64, 8, 1024, 1024]]


@pytest.mark.parametrize(
    ("run", "line"),
    [
        pytest.param(
            "mask = self.fc(x) > 0\nreturn x * (1 - mask)", "return x * (1 - mask)", id="a mask that is inverted"
        ),
        pytest.param(
            "mask = self.fc(x) > 0\nkept = self.fc(x) * mask\nreturn kept & mask", "return kept & mask", id="a product"
        ),
        pytest.param(
            "chosen = self.fc(x).argmax(-1)\nreturn F.softmax(chosen, -1)", "return F.softmax(chosen, -1)", id="indices"
        ),
    ],
)
def test_so_it_is_where_nothing_calls_the_model(run: str, line: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", "self.fc = nn.Linear(8, 8)", "x", run)
    report = worker.report(write(text) + ":Net")
    errors = [each for each in report.problems if each.severity == "error"]
    assert [text.splitlines()[each.location.line - 1].strip() for each in errors] == [line]


@pytest.mark.parametrize(
    ("signature", "run"),
    [
        ("x, mask", "return self.fc(x) * (1 - mask)"),
        ("x, keep", "return self.fc(x) * (1 - keep.unsqueeze(-1))"),
        ("x", "mask = self.fc(x) > 0\nreturn x * (1 - mask.float())"),
        ("x", "chosen = self.fc(x).argmax(-1)\nreturn F.softmax(chosen.float(), -1)"),
    ],
)
def test_an_input_whose_type_is_guessed_is_no_mistake(
    signature: str, run: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("", "self.fc = nn.Linear(8, 8)", signature, run)) + ":Net")
    assert [each.message for each in report.problems if each.severity in ("error", "warning")] == []
