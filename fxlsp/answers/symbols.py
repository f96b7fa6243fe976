"""The outline of a file: its model classes and their ``forward``, from syntax alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from fxlsp.answers.outline import outline
from fxlsp.engine.store import Snapshot
from fxlsp.source.models import ModelClass
from fxlsp.source.positions import Span


@dataclass(frozen=True, slots=True)
class Symbol:
    """A model class, with the classes in it, or its ``forward``."""

    name: str
    is_class: bool
    span: Span
    """The whole definition."""
    name_span: Span
    children: list[Symbol] = field(default_factory=list)


def symbols(snapshot: Snapshot, path: str) -> list[Symbol]:
    """The model classes of an open file; a class inside another is a child of that one."""
    top: list[Symbol] = []
    enclosing: list[Symbol] = []
    for model in sorted((each.model for each in outline(snapshot, path)), key=lambda each: each.extent):
        symbol = _class_symbol(model)
        while enclosing and not _encloses(enclosing[-1].span, model.extent):
            enclosing.pop()
        (enclosing[-1].children if enclosing else top).append(symbol)
        enclosing.append(symbol)
    return top


def _class_symbol(model: ModelClass) -> Symbol:
    children = []
    if model.forward is not None:
        children.append(Symbol("forward", False, model.forward.extent, model.forward.name))
    return Symbol(model.qualname.rpartition(".")[2], True, model.extent, model.name, children)


def _encloses(outer: Span, inner: Span) -> bool:
    return (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
