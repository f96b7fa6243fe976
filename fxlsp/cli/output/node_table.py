"""Text forms of a report: a table of nodes, or lines as of ``module_tracer.py``."""

from __future__ import annotations

import os

from fxlsp.cli.output.excerpts import location_text
from fxlsp.engine.settings.policy import Policy
from fxlsp.ide.model_status import report_facts
from fxlsp.ide.render.numbers import short_count
from fxlsp.ide.render.shapes import output_text, symbol_facts, symbolic_text
from fxlsp.ide.render.tables import table_lines
from fxlsp.ide.trace_view.provenance import readable_recipe, recorded_text, source_text
from fxlsp.ide.trace_view.report_index import ReportIndex
from fxlsp.report.graph import Node
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.recipes.recipes import RecordedRun

_INSTALLED = f"{os.sep}site-packages{os.sep}"
_HEADING = ("node", "op", "target", "module path", "output", "sizes", "params", "FLOPs", "place")


def path_lines(report: Report) -> list[str]:
    """Return ``Node NAME is from module PATH`` for each node.

    This is the output of PyTorch's ``module_tracer.py`` example.
    """
    return [f"Node {node.name} is from module {node.module_path}" for node in report.nodes]


def graph_lines(report: Report, recorded: RecordedRun | None = None) -> list[str]:
    """Return a table with a row for each node.

    Above it are the model and its recipe, below it the cost of the whole graph.

    Args:
        recorded: the run that the recipe comes from, if it was recorded.
    """
    usual = ReportIndex(report).usual_dtype
    # A size that depends on data is in the output already.
    has_expressions = any(value is not None for value in report.symbols.values())
    rows = [_row(node, usual, has_expressions) for node in report.nodes]
    source = source_text(report.recipe) if recorded is None else recorded_text(recorded)
    recipe = f"{readable_recipe(report.recipe)} ({source})" if report.recipe.init else source
    facts = symbol_facts(report.symbols)
    return [
        f"{report.target}: {recipe}, {report.mode} mode",
        *([f"sizes {facts}" if facts.startswith("for") else facts] if facts else []),
        "",
        *table_lines(_HEADING, rows, limit=None),
        "",
        " · ".join(report_facts(report, Policy())),
    ]


def _row(node: Node, usual: str | None, has_expressions: bool) -> tuple[str, ...]:
    return (
        node.name,
        node.op,
        node.target,
        str(node.module_path),
        output_text(node.output, usual),
        symbolic_text(node.output) if has_expressions else "",
        short_count(node.params) if node.params else "",
        "?" if node.flops is None else short_count(node.flops) if node.flops else "",
        _short_place(node.location) if node.location is not None else "",
    )


def _short_place(location: Location) -> str:
    """Return a location without the folder that all installed packages share."""
    return location_text(location).rpartition(_INSTALLED)[2]
