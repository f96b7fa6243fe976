"""Inputs that were found without data, and what data say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxlsp.report.report import Report
from tests.tracing.search.frames import net


def test_what_fails_with_guessed_inputs_alone_is_no_error(worker: Any, write: Callable[..., str]) -> None:
    # A model that a script turns to doubles: fake tensors let the types pass, data do not.
    text = net(
        "",
        "self.cell = nn.LSTMCell(1, 8)",
        "x",
        "h = torch.zeros(len(x), 8, dtype=torch.double)\nreturn self.cell(x, (h, h))",
    )
    report: Report = worker.report(write(text) + ":Net")
    (problem,) = [problem for problem in report.problems if problem.code == "FX401"]
    assert problem.severity == "info"
    assert problem.message.startswith("With other inputs this may work: ")


def test_inputs_for_which_only_data_can_show_whether_the_model_runs_are_tried_with_data(
    worker: Any, write: Callable[..., str]
) -> None:
    text = net("", "pass", "x", "if x.sum() > 1e9:\n    return x\nreturn x @ torch.ones(7, 3)")
    report: Report = worker.report(write(text) + ":Net")
    assert report.recipe.inputs is not None
    assert report.recipe.inputs.endswith(", 7)")
    assert "FX401" not in {problem.code for problem in report.problems}


def test_inputs_that_data_refuse_are_shown_where_no_others_are_found(worker: Any, write: Callable[..., str]) -> None:
    text = net("", "pass", "x", "if x.sum() > 1e9:\n    return x\nraise ValueError('whatever it is')")
    report: Report = worker.report(write(text) + ":Net")
    assert report.recipe.inputs is not None
    assert "error" not in {problem.severity for problem in report.problems}
