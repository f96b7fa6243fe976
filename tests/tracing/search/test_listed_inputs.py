"""What fails with one tensor is no error where code takes its input apart: it may be a list of different maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import net

PROJECTIONS = "self.proj = nn.ModuleList([nn.Conv2d(c, 32, 1) for c in (64, 128, 256)])"
HELPER = "\ndef joined(self, maps):\n    return [layer(each) for layer, each in zip(self.proj, maps)]"


def severities(report: Any) -> list[str]:
    return [each.severity for each in report.problems if each.code == "FX401"]


@pytest.mark.parametrize(
    "run",
    [
        "return [self.proj[i](each) for i, each in enumerate(feats)]",
        "feats = [\n    layer(each)\n    for layer, each in zip(self.proj, feats)\n]\nreturn feats[0]",
        "return self.proj[0](feats[0]), self.proj[2](feats[2])",
        "a, b, c = feats\nreturn self.proj[0](a), self.proj[2](c)",
        "found = []\nfor i in range(len(feats)):\n    found.append(self.proj[i](feats[i]))\nreturn found",
        f"return self.joined(feats)\n{HELPER}",
    ],
)
def test_layers_of_several_sizes_for_items_of_one_input_are_not_proven_wrong(
    run: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", PROJECTIONS, "feats", run).replace("        def joined", "    def joined")
    assert "error" not in severities(worker.report(write(text) + ":Net"))


@pytest.mark.parametrize(
    "run",
    [
        "return self.proj[1](self.proj[0](x))",
        "y = self.proj[0](x)\nreturn self.proj[1](y[:, :32]) + y[0]",
        "x = self.proj[0](x)\nreturn self.proj[1](x[1:])",
        "batch = x.size(0)\nfor layer in self.proj:\n    x = layer(x)\nreturn x.view(batch, -1)",
    ],
)
def test_layers_that_follow_each_other_and_do_not_fit_are_an_error(
    run: str, worker: Any, write: Callable[..., str]
) -> None:
    assert severities(worker.report(write(net("", PROJECTIONS, "x", run)) + ":Net")) == ["error"]


@pytest.mark.parametrize(
    ("signature", "run"),
    [
        ("*inputs", "inputs = inputs if len(inputs) > 1 else inputs[0]\nreturn inputs * 2"),
        ("*xs, **options", "x, y = xs\nreturn x + y"),
        ("**batch", 'return self.fc(batch["x"])'),
        ("*args, **kwargs", 'return self.fc(kwargs["x"] if not args else args[0])'),
    ],
)
def test_inputs_of_any_number_are_not_taken_for_none(
    signature: str, run: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("", "self.fc = nn.Linear(3, 4)", signature, run)) + ":Net")
    assert "error" not in severities(report)
