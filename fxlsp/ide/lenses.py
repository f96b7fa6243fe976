"""Code lenses: positions from syntax alone, texts from the last good trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.model_status import NOT_TRUSTED, states_of, status_text
from fxlsp.ide.recipe_choices import recipe_line
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.instances import Focus, focus_on, forward_runs, forward_text
from fxlsp.ide.trace_view.outline import factory_and_instance_names, outline
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.positions import Span

Action = Literal["retrace", "trust", "choose", "instance", "graph"]
LensKind = Literal["name", "recipe", "graph", "forward"]


@dataclass(frozen=True, slots=True)
class Lens:
    """Line of text above a class, factory, instance or ``forward``."""

    span: Span
    name: str
    """The model's qualified name: ``Outer.Inner``."""
    kind: LensKind
    """Which of the model's lenses this is."""
    text: str
    action: Action = "retrace"
    """What a click requests."""


def lenses(snapshot: Snapshot, path: str) -> list[Lens]:
    """Return every lens of an open file, in the order of the text."""
    focus = focus_on(snapshot, path)
    found = [lens for each in outline(snapshot, path) for lens in _class_lenses(snapshot, path, each.model, focus)]
    # Most instances are of a class whose own trace covers them: those are not traced again, and have no state.
    for name, span in factory_and_instance_names(snapshot, path).items():
        if states_of(snapshot, path, name):
            found += (_status_lens(snapshot, path, name, span), *_recipe_lens(snapshot, path, name, span))
    return sorted(found, key=lambda lens: lens.span)


def _class_lenses(snapshot: Snapshot, path: str, model: ModelClass, focus: Focus) -> Iterator[Lens]:
    runs = forward_runs(snapshot, path, model)
    # A class defined inside a function cannot be traced by its name; its lens shows what other traces ran of it.
    if runs or (model.runs and not model.local) or states_of(snapshot, path, model.qualname):
        yield _status_lens(snapshot, path, model.qualname, model.name, runs)
        yield from _recipe_lens(snapshot, path, model.qualname, model.name)
        if any(state.report is not None for state in states_of(snapshot, path, model.qualname)):
            yield Lens(model.name, model.qualname, "graph", "graph", "graph")
    text = forward_text(runs, focus.on_calls(runs))
    if model.forward is not None and text is not None:
        yield Lens(model.forward.name, model.qualname, "forward", text, "instance" if len(runs) > 1 else "retrace")


def _status_lens(snapshot: Snapshot, path: str, name: str, span: Span, runs: Sequence[Run] = ()) -> Lens:
    text = status_text(snapshot, path, name, runs)
    return Lens(span, name, "name", text, "trust" if text == NOT_TRUSTED else "retrace")


def _recipe_lens(snapshot: Snapshot, path: str, name: str, span: Span) -> Iterator[Lens]:
    """Yield the lens with the model's recipe and its source.

    Yields nothing if the recipe is unknown or the workspace is not trusted.
    """
    line = recipe_line(snapshot, path, name) if snapshot.is_trusted(path) else None
    if line is not None:
        yield Lens(span, name, "recipe", line, "choose")
