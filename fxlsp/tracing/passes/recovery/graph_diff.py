"""Comparison of a graph with what its model does (FX399).

The graph that torch.fx made is compared with the operations that the model itself ran on the example inputs: each
operation on values computed from an input or a parameter, by its expression and target.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ....report.codes import GRAPH_DIFFERS, severity_of
from ....report.graph import Node
from ....report.locations import Location
from ....report.problems import Problem


class ComparedOperation(NamedTuple):
    """What one node does, as far as it is the same in both passes."""

    location: Location
    target: str
    inputs: str
    """Its arguments: shapes and Python values, as JSON."""


def operations(nodes: Iterable[Node]) -> Iterator[ComparedOperation]:
    """Yield the operations among ``nodes``, without reads of attributes and items."""
    for node in nodes:
        if node.op.startswith("call_") and node.location is not None and node.target not in _READS:
            yield ComparedOperation(
                node.location, node.target, json.dumps([_comparable(value) for value in node.inputs])
            )


def _comparable(value: Any) -> Any:
    """Return an argument without its texts.

    Texts differ between the passes, since torch.fx's proxies have their own.
    """
    if isinstance(value, dict):
        text = isinstance(value.get("value"), str)
        return "text" if text else {name: _comparable(item) for name, item in value.items()}
    return [_comparable(item) for item in value] if isinstance(value, list) else value


_READS = frozenset({"builtins.getattr", "operator.getitem"})


def first_difference(graph: Iterable[Node], run: Iterable[Node], model: str) -> Problem | None:
    """Return a problem at the first operation that only one side has, else None."""
    graph = list(graph)
    # A call of a scripted module is a call of its C++ object's method in the graph.
    scripted = {node.location for node in graph if (node.op, node.target) == ("call_method", "forward")}
    in_graph = [operation for operation in operations(graph) if operation.location not in scripted]
    in_run = [operation for operation in operations(run) if operation.location not in scripted]
    surplus = Counter(in_graph) - Counter(in_run)
    missing = Counter(in_run) - Counter(in_graph)
    if not surplus and not missing:
        return None
    if missing:
        place = next(operation for operation in in_run if operation in missing)
        text = f"the model runs {place.target} here on its example inputs, and the graph does not"
    else:
        place = next(operation for operation in in_graph if operation in surplus)
        text = f"the graph runs {place.target} here, and the model does not on its example inputs"
    message = f"The graph does something else than the model when it runs: {text}."
    return Problem(GRAPH_DIFFERS, severity_of(GRAPH_DIFFERS), message, place.location, model=model)
