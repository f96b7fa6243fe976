"""Shapes as a comment: ``(1, 64, 56, 56) → (1, 64, 56, 56)  layer1.{0,1}.conv1``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxlsp.ide.render.path_patterns import compact_paths
from fxlsp.ide.render.shapes import flow_text, output_text
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.provenance import STALE, is_guessed


def comment_of_runs(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a line for each input and output shape of an expression, with modules."""
    return _lines((_flow(run), _label(run), run) for run in runs)


def comment_of_variable(name: str, values: Sequence[Run]) -> tuple[str, ...]:
    """Return a line for each shape that the variable had.

    Args:
        values: the runs that made its values.
    """
    return _lines((output_text(run.item.output, run.index.usual_dtype), name, run) for run in values)


def _flow(run: Run) -> str:
    return flow_text(run.item.inputs, run.item.output, run.index.usual_dtype)


def _label(run: Run) -> str:
    """Return an argument's name, or else the module path; "" for the root module."""
    return run.item.title if run.item.is_argument else run.item.module_path or ""


def _lines(found: Iterable[tuple[str, str, Run]]) -> tuple[str, ...]:
    labels: dict[tuple[str, str], dict[str, None]] = {}
    for text, label, run in found:
        guessed = "~" if is_guessed(run.index.report) else ""
        stale = STALE if run.state.is_stale else ""
        labels.setdefault((guessed + text, stale), {})[label] = None
    return tuple(f"{text}  {compact_paths(list(each))}".rstrip() + stale for (text, stale), each in labels.items())
