"""The arguments that came into the ``forward`` of an inner module, at its parameters.

Those of the root module are nodes, each with a place. Of an inner module only the call tells them, in the order of the
call: which parameter each belongs to is certain where there is but one, or where the call names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.forwards import forward_runs
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.runs import Run
from fxlsp.report.graph import Output
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span

_KEYWORD = re.compile(r"\w\s*=(?!=)|\*\*")


@dataclass(frozen=True, slots=True)
class Argument:
    """What one call of a ``forward`` was given for one of its parameters."""

    name: str
    parameter: Span
    value: Output | None
    run: Run
    """The call."""


def arguments(snapshot: Snapshot, path: str) -> Iterator[Argument]:
    """The arguments of the inner calls of each ``forward`` of the file, as far as their parameters are certain."""
    for outlined in outline(snapshot, path):
        parameters = outlined.parameters
        for run in forward_runs(snapshot, path, outlined.model) if parameters else ():
            inputs = run.event.inputs
            if run.event.module_path and (len(inputs) == len(parameters) == 1 or _is_positional(snapshot, run)):
                given = zip(_plain_names(outlined.model), parameters, inputs, strict=False)
                yield from (Argument(name, parameter, value, run) for name, parameter, value in given)


def _plain_names(model: ModelClass) -> Iterator[str]:
    """The parameters before a ``*args``, which takes whatever follows."""
    names = model.forward.parameters if model.forward is not None else ()
    return takewhile(lambda name: not name.startswith("*"), names)


def _is_positional(snapshot: Snapshot, run: Run) -> bool:
    """The calling expression is in sight and names no parameter."""
    location = run.event.subject.location
    document = snapshot.documents.get(location.file) if location is not None else None
    if location is None or document is None:
        return False
    log = snapshot.edits_since(location.file, run.state.texts)
    moved = move(Span.of(location), log) if log is not None else None
    return moved is not None and _KEYWORD.search(document.lines.slice(moved.span)) is None
