"""The outline of a file: its model classes and their ``forward`` from syntax, the modules in them from a trace."""

from __future__ import annotations

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.module_symbols import class_detail, module_symbols, shown_instance
from fxlsp.ide.navigation.outline_symbol import Symbol
from fxlsp.ide.trace_view.outline import outline
from fxlsp.source.models.models import ModelClass


def symbols(snapshot: Snapshot, path: str) -> list[Symbol]:
    """The model classes of an open file; a class inside another is a child of that one."""
    top: list[Symbol] = []
    enclosing: list[Symbol] = []
    for model in sorted((each.model for each in outline(snapshot, path)), key=lambda each: each.extent):
        symbol = _class_symbol(snapshot, path, model)
        while enclosing and not enclosing[-1].span.encloses(model.extent):
            enclosing.pop()
        (enclosing[-1].children if enclosing else top).append(symbol)
        enclosing.append(symbol)
    return top


def _class_symbol(snapshot: Snapshot, path: str, model: ModelClass) -> Symbol:
    children, extent = [], model.extent
    if model.forward is not None:
        children.append(Symbol("forward", "forward", model.forward.extent, model.forward.name))
        # While the text does not parse, the end of a class may be edited away and its forward still be there.
        extent = extent.joined(model.forward.extent)
    instance = shown_instance(snapshot, path, model)
    detail = ""
    if instance is not None:
        detail = class_detail(instance)
        children += module_symbols(snapshot, path, extent, model.name, instance)
    return Symbol(model.qualname.rpartition(".")[2], "class", extent, model.name, detail, children=children)
