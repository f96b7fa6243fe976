"""Severity of problems that guessed constructions or inputs may cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxlsp.report.report import Report
from tests.tracing.search.frames import net


def test_modules_in_an_object_that_was_guessed_are_no_fault_of_the_model(
    worker: Any, write: Callable[..., str]
) -> None:
    text = net(
        "model",
        "self.model, self.width, self.own = model, model.head.width, [nn.Linear(32, 32)]",
        "x",
        "x = self.model.encoder.layers(x) * self.width\nx = x + self.model.encoder.bias.weight\nreturn self.own[0](x)",
    )
    report: Report = worker.report(write(text) + ":Net")
    assert "SimpleNamespace(" in report.recipe.init
    lines = text.splitlines()
    told = {
        (problem.code, problem.severity, lines[problem.location.line - 1].strip())
        for problem in report.problems
        if problem.location is not None
    }
    assert ("FX201", "info", "x = self.model.encoder.layers(x) * self.width") in told
    assert ("FX202", "info", "x = x + self.model.encoder.bias.weight") in told
    assert ("FX201", "warning", "return self.own[0](x)") in told


def test_what_fails_on_no_value_of_a_trace_may_be_the_fault_of_a_guess(worker: Any, write: Callable[..., str]) -> None:
    text = net("parts", "self.parts = parts", "x", "table = {}\nreturn x * table[self.parts.kind]")
    report: Report = worker.report(write(text) + ":Net")
    assert [(problem.code, problem.severity) for problem in report.problems] == [("FX199", "info")]
    assert report.problems[0].message.endswith("\nWhat the model is made with was guessed.")


def test_what_fails_in_a_model_that_is_made_without_arguments_is_its_own_fault(
    worker: Any, write: Callable[..., str]
) -> None:
    report: Report = worker.report(write(net("", "self.table = {}", "x", "return x * self.table['scale']")) + ":Net")
    assert _severe(report) == [("FX401", "error")]


def test_what_fails_in_each_step_of_a_loop_is_proven_by_the_first(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "",
        "self.one, self.two = nn.Linear(8, 24), nn.Linear(8, 4)",
        "x",
        "h = self.one(x)\nfor _ in range(3):\n    h = h * self.two(x)\nreturn h",
    )
    report: Report = worker.report(write(text) + ":Net")
    assert _severe(report) == [("FX401", "error")]


def test_a_loop_whose_operands_fit_has_no_problem(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "",
        "self.one, self.two = nn.Linear(8, 24), nn.Linear(8, 24)",
        "x",
        "h = self.one(x)\nfor _ in range(3):\n    h = h * self.two(x)\nreturn h",
    )
    assert not _severe(worker.report(write(text) + ":Net"))


def _severe(report: Report) -> list[tuple[str, str]]:
    return [(each.code, each.severity) for each in report.problems if not each.code.startswith("FX2")]
