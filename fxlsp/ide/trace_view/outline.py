"""Positions of a file's model classes, factories and instances during editing.

An open bracket can hide every class of the file from the parser for a moment. The classes are then located where the
newest text that parsed had them, moved by the edits since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.source.models.forward_defs import ForwardDef, ReturnedDisplay, parameter_spans, returned_displays
from fxlsp.source.models.models import Factory, ModelClass, ModelInstance, factories, instances, model_classes
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import EditLog, move
from fxlsp.source.text.positions import Span

Mover = Callable[[Span], Span | None]
"""Moves a span of an older text to the current text; returns None if it was edited away."""


@dataclass(frozen=True, slots=True)
class Outlined:
    """A model class with its spans in the current text."""

    model: ModelClass
    parameters: tuple[Span, ...]
    """Spans of its ``forward``'s parameters.

    :func:`~fxlsp.source.models.forward_defs.parameter_spans` finds them.
    """
    returned: tuple[ReturnedDisplay, ...] = ()
    """Displays that its ``forward`` returns."""


def outline(snapshot: Snapshot, path: str) -> tuple[Outlined, ...]:
    """Return the model classes of an open or background file, in order of the text."""
    present = snapshot.document(path)
    document, mover = moved_since(snapshot, path)
    if present is None or document is None or document is present:
        return _outlined(present) if present is not None else ()
    kept = {each.model.qualname: each for old in _outlined(document) for each in _moved(old, mover)}
    new = (each for each in _outlined(present) if each.model.qualname not in kept)
    return tuple(sorted((*kept.values(), *new), key=lambda each: each.model.name))


def moved_since(snapshot: Snapshot, path: str) -> tuple[Document | None, Mover]:
    """Return the newest text of a file that parses, and what moves its spans.

    The current text if none parses; None for a file that is neither open nor in the background. The function moves
    spans to the current text.
    """
    document, settled = snapshot.document(path), snapshot.settled.get(path)
    history = snapshot.logs.get(path)
    log = history.since(settled.digest) if history is not None and settled is not None else None
    if document is None or document.parses or settled is None or log is None:
        return document, lambda span: span
    return settled, partial(_move, log)


def _move(log: EditLog, span: Span) -> Span | None:
    moved = move(span, log)
    return None if moved is None else moved.span


def _outlined(document: Document) -> tuple[Outlined, ...]:
    return document.derive(_find)


def _find(document: Document) -> tuple[Outlined, ...]:
    return tuple(_class(document, model) for model in model_classes(document))


def _class(document: Document, model: ModelClass) -> Outlined:
    forward = model.forward
    if forward is None:
        return Outlined(model, ())
    return Outlined(model, parameter_spans(document, forward), returned_displays(document, forward))


def _moved(old: Outlined, mover: Mover) -> Iterator[Outlined]:
    """Yield the class at its current position; nothing if its name was edited."""
    name = mover(old.model.name)
    if name is not None:
        extent = _extent(old.model.extent, name, mover)
        model = replace(old.model, name=name, extent=extent, forward=_forward(old.model.forward, mover))
        parameters = [mover(span) for span in old.parameters]
        ends = [(display, mover(display.end)) for display in old.returned]
        returned = tuple(replace(display, end=end) for display, end in ends if end is not None)
        yield Outlined(model, tuple(span for span in parameters if span is not None), returned)


def _forward(forward: ForwardDef | None, mover: Mover) -> ForwardDef | None:
    name = mover(forward.name) if forward is not None else None
    if forward is None or name is None:
        return None
    return replace(forward, name=name, extent=_extent(forward.extent, name, mover))


def _extent(extent: Span, name: Span, mover: Mover) -> Span:
    """Return the current extent of a statement that was edited.

    It reaches from its first to its last character, as far as they are still there, around its name.
    """
    first = mover(Span(extent.line, extent.column, extent.line, extent.column + 1)) or name
    last = mover(Span(extent.end_line, max(1, extent.end_column - 1), extent.end_line, extent.end_column)) or name
    start = min((name.line, name.column), (first.line, first.column))
    end = max((name.end_line, name.end_column), (last.end_line, last.end_column))
    return Span(*start, *end)


def class_names(snapshot: Snapshot, path: str) -> dict[str, Span]:
    """Return the span of each model class's name, in its class statement."""
    return {each.model.qualname: each.model.name for each in outline(snapshot, path)}


def factory_and_instance_names(snapshot: Snapshot, path: str) -> dict[str, Span]:
    """Return the span of each factory's and instance's name.

    It is where the factory is defined or the instance is assigned.
    """
    return dict(_made(snapshot, path))


def _made(snapshot: Snapshot, path: str) -> Iterator[tuple[str, Span]]:
    document, mover = moved_since(snapshot, path)
    models: tuple[Factory | ModelInstance, ...] = ()
    if document is not None:
        models = (*factories(document), *instances(document))
    for made in models:
        span = mover(made.name_span)
        if span is not None:
            yield made.name, span
