"""Where the model classes of a file stand while it is being typed.

A bracket that is open for a moment can hide every class of the file from the parser. Then they are where the newest
text that parsed had them, moved by the edits since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.source.models.forward_defs import ForwardDef, parameter_spans
from fxlsp.source.models.models import ModelClass, model_classes
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import EditLog, move
from fxlsp.source.text.positions import Span

Mover = Callable[[Span], Span | None]
"""Takes a span of an older text to the text as it is now; None if it was edited away."""


@dataclass(frozen=True, slots=True)
class Outlined:
    """A model class with its places in the text as it is now."""

    model: ModelClass
    parameters: tuple[Span, ...]
    """Those of its ``forward``, see :func:`~fxlsp.source.models.forward_defs.parameter_spans`."""


def outline(snapshot: Snapshot, path: str) -> tuple[Outlined, ...]:
    """The model classes of a file that is open or in the background, in the order of the text."""
    present = snapshot.document(path)
    document, mover = moved_since(snapshot, path)
    if present is None or document is None or document is present:
        return _outlined(present) if present is not None else ()
    kept = {each.model.qualname: each for old in _outlined(document) for each in _moved(old, mover)}
    new = (each for each in _outlined(present) if each.model.qualname not in kept)
    return tuple(sorted((*kept.values(), *new), key=lambda each: each.model.name))


def moved_since(snapshot: Snapshot, path: str) -> tuple[Document | None, Mover]:
    """The newest text of an open file that parses, and what moves its spans to the text as it is now.

    The text as it is now if none parses; None for a file that is neither open nor in the background.
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
    return tuple(
        Outlined(model, parameter_spans(document, model.forward) if model.forward is not None else ())
        for model in model_classes(document)
    )


def _moved(old: Outlined, mover: Mover) -> Iterator[Outlined]:
    """The class where it is now; nothing if its name was edited."""
    name = mover(old.model.name)
    if name is not None:
        extent = _extent(old.model.extent, name, mover)
        model = replace(old.model, name=name, extent=extent, forward=_forward(old.model.forward, mover))
        parameters = [mover(span) for span in old.parameters]
        yield Outlined(model, tuple(span for span in parameters if span is not None))


def _forward(forward: ForwardDef | None, mover: Mover) -> ForwardDef | None:
    name = mover(forward.name) if forward is not None else None
    if forward is None or name is None:
        return None
    return replace(forward, name=name, extent=_extent(forward.extent, name, mover))


def _extent(extent: Span, name: Span, mover: Mover) -> Span:
    """A statement that was edited: its ends, as far as they are still there, around its name."""
    first = mover(Span(extent.line, extent.column, extent.line, extent.column + 1)) or name
    last = mover(Span(extent.end_line, max(1, extent.end_column - 1), extent.end_line, extent.end_column)) or name
    start = min((name.line, name.column), (first.line, first.column))
    end = max((name.end_line, name.end_column), (last.end_line, last.end_column))
    return Span(*start, *end)
