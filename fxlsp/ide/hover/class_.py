"""Hovers of the name of a model class, and of its ``forward``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.hover.comment_text import comment_of_runs
from fxlsp.ide.hover.module import children_table
from fxlsp.ide.hover.text import HoverText, Part
from fxlsp.ide.model_status import states_of, status_text
from fxlsp.ide.recipe_choices import short_recipe
from fxlsp.ide.render.numbers import counted
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.render.tables import TextTable
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.instances import focus_on, forward_runs, forward_text
from fxlsp.ide.trace_view.provenance import (
    STALE,
    found_recipe,
    is_guessed,
    place_text,
    provenance_lines,
    provenance_text,
    recorded_text,
)
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.ide.trace_view.runs import runs_table
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.models.models import ModelClass
from fxlsp.source.recipes.invented import ELLIPSIS, shown
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span

_RECORD = words("Guessed; record a run to know: ") + code("fxlsp record -- python train.py")
_MOST_RECORDED = 6
"""Limit of lines with recorded calls: more of them would leave none for the rest of a hover."""


def class_hover(snapshot: Snapshot, path: str, model: ModelClass) -> HoverText:
    """Return the line of the class's lens, then the outcome of each recipe."""
    runs = forward_runs(snapshot, path, model)
    text = status_text(snapshot, path, model.qualname, runs)
    facts: list[Part] = [dotted([code(model.qualname), words(text)])]
    states = states_of(snapshot, path, model.qualname)
    for state in states:
        facts += _failure(state, text, runs)
        facts += _report(state)
    facts += (*_recorded_calls(states), *_children(states))
    if runs and not any(state.report for state in states):
        facts.append(runs_table(runs, focus_on(snapshot, path).holds))
    return HoverText(tuple(facts), model.name)


def forward_hover(snapshot: Snapshot, path: str, model: ModelClass, span: Span) -> HoverText | None:
    """Return the calls that ran the class's ``forward``; None if there are none.

    Args:
        span: the span of the name ``forward``.
    """
    runs = forward_runs(snapshot, path, model)
    focus = focus_on(snapshot, path)
    shown = focus.on_calls(runs)
    text = forward_text(runs, shown)
    if text is None:
        return None
    stale = STALE if shown[0].state.is_stale else ""
    first = dotted([code(f"{model.qualname}.forward"), code(text)]) + words(stale)
    table = [runs_table(runs, focus.holds)] if len(runs) > 1 else []
    provenance = provenance_lines(run.state for run in (*shown, *runs))
    recorded = _recorded_calls(states_of(snapshot, path, model.qualname))
    guessed = [_RECORD] if any(is_guessed(run.index.report) for run in shown) else []
    facts: tuple[Part, ...] = (first, *table, *provenance, *guessed, *recorded)
    return HoverText(facts, span, comment_lines=comment_of_runs(shown))


def _recorded_calls(states: Sequence[ModelState]) -> Iterator[RichText]:
    """Yield a line for each call of the class that a run has recorded, of many the first ones and how many more."""
    calls = [(state, found) for state in states[:1] for found in state.found if found.recorded is not None]
    for state, found in calls[:_MOST_RECORDED]:
        yield _recorded_call(state, found, any(_uses(each, found) for each in states))
    if len(calls) > _MOST_RECORDED:
        yield words(f"and {counted(len(calls) - _MOST_RECORDED, 'more recorded call')}")


def _recorded_call(state: ModelState, found: FoundRecipe, is_in_use: bool) -> RichText:
    """Return ``▸ Net(3)(torch.randn(4, 3)) · recorded: train.py, today 14:02 · train.py:31``."""
    run = words("" if found.recorded is None else recorded_text(found.recorded))
    facts = [words("▸ " if is_in_use else "") + code(short_recipe(found.recipe)), run]
    if found.file is not None:
        facts.append(code(place_text(state.key.file, found.file, found.span.line)))
    return dotted([*facts, words("older than the code")] if found.error is not None else facts)


def _uses(state: ModelState, found: FoundRecipe) -> bool:
    return state.report is not None and found_recipe(state, state.report.recipe) is found


def _children(states: Sequence[ModelState]) -> Iterator[TextTable]:
    """Yield the table of the model's children, from the first of its traces."""
    report = next((state.report for state in states if state.report is not None), None)
    table = None if report is None else children_table(index_of(report), "")
    if table is not None:
        yield table


def _failure(state: ModelState, headline: str, runs: Sequence[Run]) -> Iterator[RichText]:
    """Yield the failure in full, unless ``headline`` contains it.

    Nothing either for a class that runs in other traces and only lacks a recipe.
    """
    failure = state.failure
    if failure is not None and failure.message not in headline and not (runs and failure.needs):
        yield words(failure.message)


def _report(state: ModelState) -> Iterator[RichText]:
    if state.report is not None:
        yield from _verdict(state.report)
        yield provenance_text(state, state.report)
        if is_guessed(state.report):
            yield _RECORD
        if state.report.recipe.inputs is None:
            yield words("Its inputs are not known: say what to feed it, for example with a comment above it: ") + code(
                f"# fxlsp: {_written_init(state.report.recipe)}(torch.randn(1, 3, 32, 32))"
            )
        yield words(_environment(state.key.python, state.report))


def _written_init(recipe: Recipe) -> str:
    """Return the construction as a comment may give it: ``...`` for what a search made up."""
    return shown(recipe.init, recipe).replace(ELLIPSIS, "...")


def _verdict(report: Report) -> Iterator[RichText]:
    error = report.verdict.error
    if error is not None:
        yield words("torch.fx.symbolic_trace raises ") + code(f"{error.type}: {error.message}")


def _environment(python: str, report: Report) -> str:
    versions = f"Python {report.environment.python}, torch {report.environment.torch} ({python})"
    total = report.timing_ms.get("total")
    return versions if total is None else f"{versions} · traced in {total:.0f} ms"
