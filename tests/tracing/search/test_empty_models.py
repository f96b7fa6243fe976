"""Guessed arguments with which a constructor makes none of its layers are no recipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import net

BY_NAME = (
    "features, shapes, pattern",
    """
self.shapes = {k: v for k, v in shapes.items() if len(v) == 3 and k == pattern}
if self.shapes:
    self.image = nn.Linear(features, 8)
""",
    "x",
    "return {'image': self.image(x)} if self.shapes else {}",
)
BY_COUNT = (
    "width, stages=0, *rest",
    "layers = [nn.Linear(width, width) for _ in range(stages)]\nself.layers = nn.Sequential(*layers)",
    "x",
    "return self.layers(x)",
)
FAITHFUL = {
    "layers that are made": (
        "width, count",
        "self.layers = nn.Sequential(*[nn.Linear(width, 8)] * 1)",
        "x",
        "return self.layers(x)",
    ),
    "no layer in the class": ("scale", "self.scale = scale", "x", "return x * self.scale"),
    "an identity": ("width", "self.layer = nn.Identity()\nself.width = width", "x", "return self.layer(x)"),
    "a parameter alone": ("width", "self.weight = nn.Parameter(torch.ones(width))", "x", "return x * self.weight"),
}


@pytest.mark.parametrize("text", [BY_NAME, BY_COUNT])
def test_a_model_without_any_of_its_layers_is_not_followed(
    text: tuple[str, str, str, str], worker: Any, write: Callable[..., str]
) -> None:
    answer = worker.answer(write(net(*text)) + ":Net")
    if answer["type"] == "report":
        # Other arguments were found, with which layers are made.
        assert any(node.op == "call_module" for node in Report.from_json(answer["report"]).nodes)
    else:
        assert answer["failure"]["failure"]["needs"] is not None


@pytest.mark.parametrize("what", FAITHFUL)
def test_a_model_with_all_that_its_constructor_makes_is_followed(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    report: Report = worker.report(write(net(*FAITHFUL[what])) + ":Net")
    assert report.recipe.inputs is not None
    assert not [each for each in report.problems if each.severity in ("error", "warning")]
