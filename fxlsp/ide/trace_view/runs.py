"""Runs of one expression, as a table with a row for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxlsp.ide.render.numbers import flops_text, short_count
from fxlsp.ide.render.path_patterns import compact_paths
from fxlsp.ide.render.shapes import dtypes, inputs_text, output_text
from fxlsp.ide.render.tables import TextTable, distinguishing
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.report.graph import ModuleCall, Node

_HEADING = ("", "model", "module path", "node", "call", "module", "in", "out", "parameters", "FLOPs")
_NUMBERS = frozenset({"parameters", "FLOPs"})
_MARK = "▸"


def usual_dtype(run: Run) -> str | None:
    """Return the output's dtype if it is the model's usual one.

    An unusual one is shown after its shape instead.
    """
    usual = run.index.usual_dtype
    return usual if set(dtypes(run.item.output)) == {usual} else None


def turn_of(run: Run) -> tuple[int, int]:
    """Return which call of its module this is, of how many; (1, 1) if no module is called."""
    return run.index.turn(run.item.subject) if isinstance(run.item.subject, Node) else (1, 1)


def is_assumed(run: Run) -> bool:
    """Return whether the output rests on that of an operation that fails."""
    return any(node.assumed for node in run.index.report.nodes[run.item.first : run.item.end])


def runs_table(runs: Sequence[Run], shown: Callable[[Run], bool] | None = None) -> TextTable:
    """Return a table with one row for runs that differ only in their instance.

    Columns are left out if they are empty in every row.

    Args:
        shown: returns whether the user chose to see a run; its row is marked.
    """
    several_models = len({id(run.state) for run in runs}) > 1
    titles = distinguishing([run.item.title for run in runs])
    alike: dict[tuple[str, ...], list[Run]] = {}
    for run, title in zip(runs, titles, strict=True):
        alike.setdefault(_facts(run, several_models, title), []).append(run)
    return TextTable(_HEADING, tuple(_row(facts, group, shown) for facts, group in alike.items()), _NUMBERS)


def path_text(module_path: str | None) -> str:
    """Return a module path as text; the root's, which is empty, gets a name."""
    if module_path is None:
        return "none"
    return module_path or "(root)"


def _row(facts: tuple[str, ...], group: Sequence[Run], shown: Callable[[Run], bool] | None) -> tuple[str, ...]:
    model, *others = facts
    mark = _MARK if shown is not None and any(map(shown, group)) else ""
    paths = compact_paths([path_text(run.item.module_path) for run in group])
    names = [run.item.subject.name for run in group if isinstance(run.item.subject, Node)]
    return (mark, model, paths, names[0] if len(names) == 1 else "", _calls(group), *others)


def _calls(group: Sequence[Run]) -> str:
    """Return which call of its module a run is; of several, the number of calls."""
    if len(group) == 1:
        turn, turns = turn_of(group[0])
        return f"{turn} of {turns}" if turns > 1 else ""
    return f"{len(group)} calls" if len({run.item.module_path for run in group}) < len(group) else ""


def _facts(run: Run, with_model: bool, title: str) -> tuple[str, ...]:
    """Return the cells that a run has in common with others like it."""
    event, usual = run.item, run.index.usual_dtype
    return (
        run.state.key.name if with_model else "",
        title,
        inputs_text(event.inputs, usual),
        output_text(event.output, usual),
        short_count(event.subject.params) if event.subject.params else "",
        flops_text(event.subject.flops) if event.subject.flops else _unknown_flops(event),
    )


def _unknown_flops(event: Event) -> str:
    """Return "" for what costs nothing, and "unknown" for an unknown count."""
    if isinstance(event.subject, ModuleCall) or event.output is not None:
        return "unknown" if event.subject.flops is None else ""
    return ""
