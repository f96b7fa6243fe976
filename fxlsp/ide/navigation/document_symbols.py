"""Outline of a file: classes and ``forward`` from syntax, modules from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.model_status import states_of
from fxlsp.ide.render.shapes import output_text
from fxlsp.ide.trace_view.instances import focus_on, forward_runs
from fxlsp.ide.trace_view.module_tree import Registered, rows
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.provenance import STALE, is_guessed
from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.report.locations import Location
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.python_tree import statement_around
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import EditLog, move
from fxlsp.source.text.positions import Span

_MOST_SHOWN = 500
"""Most modules of one class; of a larger model the deepest are left out."""

_DEEPEST = 24
"""Most levels below a class."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A model class, its ``forward``, or a module that is registered in it."""

    name: str
    kind: Literal["class", "forward", "module"]
    span: Span
    """The whole definition or statement, inside that of the parent symbol."""
    name_span: Span
    """What to select, inside ``span``."""
    detail: str = ""
    path: str = ""
    """A module's path, which names it for clients that show no tree."""
    children: list[Symbol] = field(default_factory=list)


def symbols(snapshot: Snapshot, path: str) -> list[Symbol]:
    """Return the model classes of an open file.

    A class inside another is a child of it.
    """
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
        # While the text does not parse, the end of a class may be edited away while its forward is still there.
        extent = extent.joined(model.forward.extent)
    instance = _shown_instance(snapshot, path, model)
    detail = ""
    if instance is not None:
        detail = _class_detail(instance)
        children += _module_symbols(snapshot, path, extent, model.name, instance)
    return Symbol(model.qualname.rpartition(".")[2], "class", extent, model.name, detail, children=children)


@dataclass(frozen=True, slots=True)
class _ShownInstance:
    """The module of a trace that represents a class in the outline."""

    state: ModelState
    index: ReportIndex
    root: Registered
    others: int
    """Number of other calls that ran the same ``forward``."""


def _shown_instance(snapshot: Snapshot, path: str, model: ModelClass) -> _ShownInstance | None:
    """Return the instance that the user chose, or else a default.

    The default is the root if the class has a trace of its own, else the first call.
    """
    runs = forward_runs(snapshot, path, model)
    chosen = focus_on(snapshot, path).on_calls(runs)
    if len(chosen) == len(runs):
        for state in states_of(snapshot, path, model.qualname):
            root = None if state.report is None else index_of(state.report).modules.get("")
            if state.report is not None and root is not None:
                return _ShownInstance(state, index_of(state.report), root, 0)
    module = chosen[0].index.modules.get(chosen[0].item.module_path or "") if chosen else None
    return None if module is None else _ShownInstance(chosen[0].state, chosen[0].index, module, len(runs) - 1)


def _class_detail(instance: _ShownInstance) -> str:
    """Return ``layer1.0 (+7 more)`` for a class that runs inside another model."""
    where = instance.root.module.path
    more = f" (+{instance.others} more)" if instance.others else ""
    stale = STALE if instance.state.is_stale else ""
    shown, count = min(len(instance.root.children), _MOST_SHOWN), len(instance.root.children)
    cut = f"{shown} of {count} modules" if shown < count else ""
    return " · ".join(filter(None, [f"{where}{more}{stale}".strip(), cut]))


def _module_symbols(snapshot: Snapshot, path: str, extent: Span, name: Span, instance: _ShownInstance) -> list[Symbol]:
    """Return the modules registered in an instance of a class, with their children.

    Args:
        extent: the span of the class's symbol.
        name: the span of the class's name.
    """
    document = snapshot.documents.get(path)
    log = snapshot.edits_since(path, instance.state.texts)
    if document is None or log is None:
        return []
    symbols = _Symbols(_Placing(document, log), instance)
    return symbols.below(instance.root, extent, name, _levels(instance.root))


def _levels(root: Registered) -> int:
    """Return how many levels below a module can be shown, at least one."""
    level: Sequence[Registered] = [root]
    count = 0
    for depth in range(_DEEPEST):
        level = [row[0] for each in level for row in rows(each.children)]
        count += len(level)
        if not level or count > _MOST_SHOWN:
            return max(depth, 1)
    return _DEEPEST


class _Placing:
    """Spans of the modules of one trace in the current text of one file."""

    def __init__(self, document: Document, log: EditLog) -> None:
        self._document = document
        self._log = log
        self._found: dict[Location, tuple[Span | None, Span | None]] = {}

    def inside(self, module: Registered, extent: Span, name: Span) -> tuple[Span, Span]:
        """Return the statement that registered a module, and what to select of it.

        If that is not inside ``extent``, the expression that constructed or registered the module; if that is not
        either, ``name``, the name of the parent symbol.
        """
        registration, statement = self._place(module.module.registration)
        made, _ = self._place(module.module.location)
        for whole, part in ((statement, registration), (made, made), (registration, registration)):
            if whole is not None and part is not None and whole != extent and extent.encloses(whole):
                return whole, part
        return name, name

    def _place(self, location: Location | None) -> tuple[Span | None, Span | None]:
        """Return the current span of a location, and its statement.

        None for another file's location, and for one that was edited away.
        """
        if location is None or location.file != self._document.path:
            return None, None
        if location not in self._found:
            moved = move(Span.of(location), self._log)
            statement = None if moved is None else statement_around(self._document, moved.span)
            self._found[location] = None if moved is None else moved.span, statement
        return self._found[location]


class _Symbols:
    """Builds the symbols of one instance."""

    def __init__(self, placing: _Placing, instance: _ShownInstance) -> None:
        self._placing = placing
        self._index = instance.index
        self._mark = "~" if is_guessed(instance.index.report) else ""

    def below(self, module: Registered, extent: Span, name: Span, levels: int) -> list[Symbol]:
        """Return the symbols of the modules in a module whose symbol covers ``extent``."""
        shown = islice(rows(module.children), _MOST_SHOWN) if levels else ()
        return [self._symbol(row, extent, name, levels) for row in shown]

    def _symbol(self, row: Sequence[Registered], above: Span, name_above: Span, levels: int) -> Symbol:
        first, last = row[0], row[-1]
        extent, name = self._placing.inside(first, above, name_above)
        return Symbol(
            first.name if first is last else f"{first.name} … {last.name}",
            "module",
            extent,
            name,
            self._detail(row),
            first.module.path,
            self.below(first, extent, name, levels - 1),
        )

    def _detail(self, row: Sequence[Registered]) -> str:
        first, last = row[0].module, row[-1].module
        kind = first.type if first is last else f"{len(row)} × {first.type}"
        path = first.path if first is last else f"{first.path} … {last.path}"
        return " · ".join(filter(None, [kind, path, self._shape(row)]))

    def _shape(self, row: Sequence[Registered]) -> str:
        """Return the outputs' shape; "" for modules that are never called."""
        nested_calls = [nested for each in row for nested in self._index.calls.by_module.get(each.module.path, ())]
        shapes = dict.fromkeys(output_text(nested.call.output, self._index.usual_dtype) for nested in nested_calls)
        if not shapes:
            return ""
        more = f" (+{len(shapes) - 1} more)" if len(shapes) > 1 else ""
        return f"{self._mark}{next(iter(shapes))}{more}"
