"""Several runs of one expression, as a table with a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.answers.counts import flops_text, short_count
from fxlsp.answers.events import Event
from fxlsp.answers.shapes import dtypes, inputs_text, output_text
from fxlsp.answers.tables import table_lines
from fxlsp.answers.titles import distinguishing
from fxlsp.answers.traceindex import TraceIndex
from fxlsp.engine.store import ModelState
from fxlsp.report.graph import ModuleCall, Node

_HEADING = ("model", "module path", "node", "module", "call", "in", "out", "parameters", "FLOPs")


@dataclass(frozen=True, slots=True)
class Run:
    """An event together with the trace in which it happened."""

    state: ModelState
    index: TraceIndex
    event: Event

    @property
    def dtype(self) -> str | None:
        """The dtype of what came out, where it is usual for the model; an unusual one stands beside its shape."""
        usual = self.index.usual_dtype
        return usual if set(dtypes(self.event.output)) == {usual} else None

    @property
    def turn(self) -> tuple[int, int]:
        """Which call of its module this is, of how many; (1, 1) for what is not a called module."""
        return self.index.turn(self.event.subject) if isinstance(self.event.subject, Node) else (1, 1)


def runs_table(runs: Sequence[Run]) -> list[str]:
    """One row for each run, with the columns in which they say something."""
    several_models = len({id(run.state) for run in runs}) > 1
    titles = distinguishing([run.event.title for run in runs])
    rows = [_row(run, several_models, title) for run, title in zip(runs, titles, strict=True)]
    return table_lines(_HEADING, rows)


def path_text(module_path: str | None) -> str:
    """A module path; the root's, which is empty, gets a name."""
    if module_path is None:
        return "none"
    return module_path or "(root)"


def _row(run: Run, with_model: bool, title: str) -> tuple[str, ...]:
    event, usual = run.event, run.index.usual_dtype
    turn, turns = run.turn
    return (
        run.state.key.name if with_model else "",
        path_text(event.module_path),
        event.subject.name if isinstance(event.subject, Node) else "",
        title,
        f"{turn} of {turns}" if turns > 1 else "",
        inputs_text(event.inputs, usual),
        output_text(event.output, usual),
        short_count(event.subject.params) if event.subject.params else "",
        flops_text(event.subject.flops) if event.subject.flops else _unknown_flops(event),
    )


def _unknown_flops(event: Event) -> str:
    """Silence for what costs nothing; a count that is not known says so."""
    if isinstance(event.subject, ModuleCall) or event.output is not None:
        return "unknown" if event.subject.flops is None else ""
    return ""
