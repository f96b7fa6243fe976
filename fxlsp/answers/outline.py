"""Where the model classes of a file stand while it is being typed.

A bracket that is open for a moment can hide every class of the file from the parser. Then they are where the newest
text that parsed had them, moved by the edits since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.engine.store import Snapshot
from fxlsp.source.documents import Document
from fxlsp.source.edits import EditLog, move
from fxlsp.source.forwards import ForwardDef
from fxlsp.source.models import ModelClass, model_classes
from fxlsp.source.parameters import parameter_spans
from fxlsp.source.positions import Span


@dataclass(frozen=True, slots=True)
class Outlined:
    """A model class with its places in the text as it is now."""

    model: ModelClass
    parameters: tuple[Span, ...]
    """Those of its ``forward``, see :func:`~fxlsp.source.parameters.parameter_spans`."""


def outline(snapshot: Snapshot, path: str) -> tuple[Outlined, ...]:
    """The model classes of an open file, in the order of the text."""
    document = snapshot.documents.get(path)
    if document is None:
        return ()
    present = _outlined(document)
    settled = snapshot.settled.get(path)
    history = snapshot.logs.get(path)
    log = history.since(settled.digest) if history is not None and settled is not None else None
    if document.parses or settled is None or log is None:
        return present
    kept = {each.model.qualname: each for old in _outlined(settled) for each in _moved(old, log)}
    new = (each for each in present if each.model.qualname not in kept)
    return tuple(sorted((*kept.values(), *new), key=lambda each: each.model.name))


def _outlined(document: Document) -> tuple[Outlined, ...]:
    return document.derive(_find)


def _find(document: Document) -> tuple[Outlined, ...]:
    return tuple(
        Outlined(model, parameter_spans(document, model.forward) if model.forward is not None else ())
        for model in model_classes(document)
    )


def _moved(old: Outlined, log: EditLog) -> Iterator[Outlined]:
    """The class where it is now; nothing if its name was edited."""
    name = move(old.model.name, log)
    if name is not None:
        extent = _extent(old.model.extent, name.span, log)
        model = replace(old.model, name=name.span, extent=extent, forward=_forward(old.model.forward, log))
        parameters = [move(span, log) for span in old.parameters]
        yield Outlined(model, tuple(moved.span for moved in parameters if moved is not None))


def _forward(forward: ForwardDef | None, log: EditLog) -> ForwardDef | None:
    name = move(forward.name, log) if forward is not None else None
    if forward is None or name is None:
        return None
    return replace(forward, name=name.span, extent=_extent(forward.extent, name.span, log))


def _extent(extent: Span, name: Span, log: EditLog) -> Span:
    """A statement that was edited: its ends, as far as they are still there, around its name."""
    first = move(Span(extent.line, extent.column, extent.line, extent.column + 1), log)
    last = move(Span(extent.end_line, max(1, extent.end_column - 1), extent.end_line, extent.end_column), log)
    start = min((name.line, name.column), (first.span.line, first.span.column) if first else (name.line, name.column))
    end = (name.end_line, name.end_column)
    end = max(end, (last.span.end_line, last.span.end_column) if last else end)
    return Span(*start, *end)
