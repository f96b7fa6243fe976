"""The arguments that came into the ``forward`` of an inner module, at its parameters.

Those of the root module are nodes, each with a place. Of an inner module only the call tells them, in the order of the
call, which is that of the parameters for certain only where there is but one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.answers.forwards import forward_runs
from fxlsp.answers.outline import outline
from fxlsp.answers.runs import Run
from fxlsp.engine.store import Snapshot
from fxlsp.report.graph import Output
from fxlsp.source.positions import Span


@dataclass(frozen=True, slots=True)
class Argument:
    """What one call of a ``forward`` was given for its only parameter."""

    parameter: Span
    value: Output | None
    run: Run
    """The call."""


def arguments(snapshot: Snapshot, path: str) -> Iterator[Argument]:
    """The arguments of the inner calls of each ``forward`` of the file that has a single parameter."""
    for outlined in outline(snapshot, path):
        if len(outlined.parameters) != 1:
            continue
        for run in forward_runs(snapshot, path, outlined.model):
            if run.event.module_path and len(run.event.inputs) == 1:
                yield Argument(outlined.parameters[0], run.event.inputs[0], run)
