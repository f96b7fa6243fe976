"""Classes and modules of the workspace by name, such as ``ResNet.layer1``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop
from typing import Literal

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.in_trace import NavigationTarget, target_of
from fxlsp.ide.trace_view.module_tree import place_of_module
from fxlsp.ide.trace_view.outline import outline
from fxlsp.report.graph import Module
from fxlsp.source.python.class_statements import class_statements
from fxlsp.source.recipes.markdown_blocks import is_block
from fxlsp.source.text.class_kind import ClassKind
from fxlsp.source.text.documents import Document
from fxlsp.source.text.syntax import span_of

MOST_SYMBOLS = 128
"""More than anyone reads; a longer query finds what is left out."""


@dataclass(frozen=True, slots=True)
class WorkspaceSymbol:
    """A model class, or a module of a traced model."""

    name: str
    """``ResNet`` or ``ResNet.layer1.0.conv1``. The query is matched against all of it, by the editor too."""
    kind: Literal["class", "module"]
    container: str
    """The class of a module."""
    path: str
    """The file that contains it."""
    target: NavigationTarget | None
    """None for a class of a file that is not open: :func:`class_target` finds it in the file's text."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Possible match whose location is computed only when it is needed."""

    name: str
    short: str
    """The name without the model's."""
    locate: Callable[[], WorkspaceSymbol | None]


def workspace_symbols(snapshot: Snapshot, query: str, most: int = MOST_SYMBOLS) -> list[WorkspaceSymbol]:
    """Return the symbols whose name contains the letters of ``query`` in order.

    The best matches come first. An empty query finds everything, up to the limit.

    Args:
        most: the limit.
    """
    letters = "".join(query.split()).lower()
    matches = re.compile("".join(f"[^{re.escape(each)}]*{re.escape(each)}" for each in letters)).match
    ranked = (
        (_rank(letters, each), len(each.name), order, each)
        for order, each in enumerate(_candidates(snapshot))
        if matches(each.name.lower())
    )
    waiting = list(ranked)
    heapify(waiting)
    found: list[WorkspaceSymbol] = []
    # Only the lookup shows that some are no models, or were edited away.
    while waiting and len(found) < most:
        *_, candidate = heappop(waiting)
        found += filter(None, [candidate.locate()])
    return found


def class_target(document: Document, qualname: str) -> NavigationTarget | None:
    """Return the class of that name in a text; of several the last, as in Python."""
    for statement in reversed(class_statements(document.tree.root_node)):
        if statement.qualname == qualname:
            name, extent = span_of(statement.name, document.lines), span_of(statement.statement, document.lines)
            return NavigationTarget(document.path, name, extent)
    return None


def _rank(letters: str, candidate: _Candidate) -> int:
    """Return the rank of a match, 0 for the best.

    0 if the name is equal, 1 if it ends with the letters after a dot, 2 if it begins with them, 3 if it contains them,
    4 if it contains only each of them in order.
    """
    name, short = candidate.name.lower(), candidate.short.lower()
    if letters in (name, short):
        return 0
    if name.endswith(f".{letters}"):
        return 1
    if name.startswith(letters) or short.startswith(letters):
        return 2
    return 3 if letters in name else 4


def _candidates(snapshot: Snapshot) -> Iterator[_Candidate]:
    yield from _open_classes(snapshot)
    yield from _other_classes(snapshot)
    yield from _modules(snapshot)


def _open_classes(snapshot: Snapshot) -> Iterator[_Candidate]:
    for path in snapshot.documents:
        for model in (each.model for each in outline(snapshot, path)):
            target = NavigationTarget(path, model.name, model.extent)
            found = WorkspaceSymbol(model.qualname, "class", "", path, target)
            yield _Candidate(model.qualname, model.qualname, partial(_same, found))


def _same(found: WorkspaceSymbol) -> WorkspaceSymbol:
    return found


def _other_classes(snapshot: Snapshot) -> Iterator[_Candidate]:
    for path, offers in snapshot.index.files.items():
        if path in snapshot.documents or is_block(path):
            continue
        for definition in offers.definitions:
            if definition.bases is not None:
                locate = partial(_other_class, snapshot, SymbolId(path, definition.name))
                yield _Candidate(definition.name, definition.name, locate)


def _other_class(snapshot: Snapshot, place: SymbolId) -> WorkspaceSymbol | None:
    """Return a class of a file that is not open; None if it is not a module class."""
    if snapshot.index.kind_of(place) is not ClassKind.MODULE:
        return None
    return WorkspaceSymbol(place.name, "class", "", place.path, None)


def _modules(snapshot: Snapshot) -> Iterator[_Candidate]:
    """Yield the modules of every traced model.

    If a model is traced with several recipes, those of the chosen one come first.
    """
    known: set[tuple[str, str]] = set()
    for state in sorted(snapshot.models.values(), key=lambda state: not state.pinned):
        for module in () if state.report is None else state.report.modules:
            name = f"{state.key.name}.{module.path}"
            if module.path and (state.key.file, name) not in known:
                known.add((state.key.file, name))
                yield _Candidate(name, module.path, partial(_module, snapshot, state, name, module))


def _module(snapshot: Snapshot, state: ModelState, name: str, module: Module) -> WorkspaceSymbol | None:
    """Return a module of a report; None if its registration is unknown or edited away."""
    target = target_of(snapshot, state, place_of_module(module))
    return None if target is None else WorkspaceSymbol(name, "module", module.type, target.path, target)
