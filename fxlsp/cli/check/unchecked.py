"""What a run of ``fxlsp check`` could not check, and calls of models that it could not use, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.cli.check.results import ENDED, CheckResults, ModelEntry
from fxlsp.cli.output.excerpts import location_text
from fxlsp.cli.tracing.notebooks import in_cells
from fxlsp.ide.render.numbers import counted
from fxlsp.report.frontend_codes import frontend_of
from fxlsp.report.locations import Location
from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.recipes import unused_calls_of

_NOT_FOLLOWED = ("failed", "skipped")
_REASON_WIDTH = 160


@dataclass(frozen=True)
class UncheckedModel:
    """Model of which a run proves nothing, or whose shapes or verdict it does not know."""

    location: Location
    target: str
    reason: str


def unchecked_models(results: CheckResults) -> list[UncheckedModel]:
    """Return the models that were not followed, have no shape or no verdict.

    Those without a verdict of another front end come last.
    A model that was not followed is left out if a problem of severity error or warning reports it, other than one of
    torch.export or torch.compile.
    """
    pressing = (each for each in results.problems() if each.severity in ("error", "warning"))
    reported = {each.model for each in pressing if frontend_of(each.code) is None}
    found = []
    for entry in results.entries():
        if entry.status == "unshaped":
            found.append(UncheckedModel(entry.location, entry.target, f"its shapes are unknown: {_no_shapes(entry)}"))
        elif entry.status in _NOT_FOLLOWED and entry.target not in reported:
            found.append(UncheckedModel(entry.location, entry.target, _first_line(entry.reason) or "there is no graph"))
    return [*found, *dict.fromkeys(_unasked(results))]


def unchecked_lines(results: CheckResults) -> Iterator[str]:
    """Yield the last lines of ``--format full``: what could not be checked, and what a guess replaces."""
    unchecked = unchecked_models(results)
    if unchecked:
        yield "Not checked:"
        yield from (f"  {location_text(each.location)}: {each.target}: {each.reason}" for each in unchecked)
    other = [entry for entry in results.entries() if entry.recipe is not None and entry.recipe.sizes_note]
    if other:
        yield "Sizes of the settings that guessed inputs do not have:"
        yield from (
            f"  {location_text(each.location)}: {each.target}: {each.recipe.sizes_note if each.recipe else ''}"
            for each in other
        )
    unused = list(_unused_calls(results))
    if unused:
        yield "Calls that feed no model, so its inputs were guessed:"
        yield from unused


def _unasked(results: CheckResults) -> Iterator[UncheckedModel]:
    """Yield the models on which a front end has no verdict: classes, and what makes or is a model."""
    for attempt in results.reported_attempts():
        for verdict in attempt.verdicts:
            if verdict.verdict == "unavailable":
                reasons = "; ".join(problem.headline for problem in verdict.problems)
                reason = _first_line(f"torch.{verdict.frontend} {verdict.summary}: {reasons}")
                yield UncheckedModel(in_cells(attempt.model.location), attempt.model.target.text, reason)


def strict_message(results: CheckResults) -> str | None:
    """Return why ``--strict`` fails a run; None if all models were checked."""
    unchecked = unchecked_models(results)
    if not unchecked:
        return None
    targets = list(dict.fromkeys(each.target for each in unchecked))
    names = ", ".join(targets[:3]) + (", ..." if len(targets) > 3 else "")
    return f"{counted(len(targets), 'model')} not checked: {names}"


def ended_message(results: CheckResults) -> str:
    """Return how much of a run that was ended early is missing."""
    entries = results.entries()
    missing = sum(entry.reason == ENDED for entry in entries)
    return f"ended early, with {missing} of {counted(len(entries), 'model')} not traced"


def _no_shapes(entry: ModelEntry) -> str:
    if entry.covered_by is not None:
        return f"the trace of {entry.covered_by} has none of it"
    if entry.recipe is not None and entry.recipe.inputs is None:
        return "no inputs are stated, and none were found with which it runs"
    return _first_line(entry.reason) or "nothing in it has one"


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _REASON_WIDTH else line[: _REASON_WIDTH - 1] + "…"


def _unused_calls(results: CheckResults) -> Iterator[str]:
    guessed = {entry.location for entry in results.entries() if _is_guessed(entry)}
    for file in results.files:
        for model in model_classes(file.document):
            if model.local or model.forward is None or file.location(model) not in guessed:
                continue
            for site in unused_calls_of(file.document, model):
                span = site.span
                place = Location(file.document.path, span.line, span.column, span.end_line, span.end_column)
                yield f"  {location_text(place)}: {file.target(model)}: {site.reason}"


def _is_guessed(entry: ModelEntry) -> bool:
    """Return whether nothing states the inputs with which a model was traced."""
    recipe = entry.recipe
    return recipe is not None and (recipe.source == "search" or recipe.inputs is None)
