"""Views that put numbers of different axes together, such as (B, C, N) read as (B, N, C) (FX610).

``view`` and ``reshape`` leave all numbers in their order. Axes can be split and neighbours merged; what looks like
another order of the axes is none, and rows that do not end where examples of the batch end hold parts of two.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from .....report.codes import AXES_MIXED, severity_of
from .....report.graph import Node
from .....report.problems import Problem
from .....report.report import Report
from ....model.locations.code_origin import is_installed
from ....model.locations.source_map import SourceMap

Shape = tuple[int, ...]
OtherShapes = Callable[[bool], Sequence[Mapping[str, Shape]]]
"""Returns the shapes of nodes by name in runs of the graph at other sizes, with or without another batch."""

_VIEWS = ("view", "reshape")
_KEEPS_ORDER = ("contiguous", "clone", "float", "detach")
_SLICES = ("getitem", "narrow")
_FILLS = ("cat", "concat", "concatenate", "hstack", "vstack", "column_stack", "row_stack", "pad")
"""A column that is put before all rows, or taken from their start, and a view that moves the ends of the rows shift
relative positions on purpose."""
_MOST_AXES = 8


def views_that_mix(report: Report, other_shapes: OtherShapes, source_map: SourceMap) -> Iterator[Problem]:
    """Yield a problem for each view of the user's code that puts numbers of different axes together.

    What the functions of a package do is their business, and what is made of parameters alone has no batch, and no axes
    but those that training gives it.

    Args:
        report: the report, whose graph is looked at.
        other_shapes: called where the sizes of the trace leave it open what a view does.
        source_map: the source map of the traced code.
    """
    runs = cache(other_shapes)
    for node in _views_of_activations(report.nodes):
        before, after = (_shape(each) for each in (node.inputs[0] if node.inputs else None, node.output))
        if before is None or after is None:
            continue
        if is_reordered(before, after):
            # Where the first axis stays, a batch that the code states as a number would disturb.
            is_certain = splits_rows(before, after) or _is_reordered_in(runs(before[0] != after[0]), node)
            message = _order_message(node, before, after) if is_certain else None
        else:
            is_mixed = report.recipe.source != "search" and splits_rows(before, after, batch_only=True)
            message = _batch_message(node, before, after) if is_mixed else None
        if message is not None and _is_written_at(node, source_map):
            yield _problem(report, node, message)


def is_reordered(before: Shape, after: Shape) -> bool:
    """Return whether a shape is the other one with whole axes in another order, merged or split besides.

    Example:
        >>> is_reordered((2, 64, 7, 7), (2, 49, 64)), is_reordered((2, 64, 7, 7), (2, 64, 49))
        (True, False)
    """
    before, after = (tuple(size for size in shape if size != 1) for shape in (before, after))
    if max(len(before), len(after)) > _MOST_AXES or 0 in before:
        return False
    return any(
        _is_made_of(fewer, more) and not _is_made_in_order(fewer, more)
        for fewer, more in ((before, after), (after, before))
        if len(fewer) <= len(more)
    )


def splits_rows(before: Shape, after: Shape, batch_only: bool = False) -> bool:
    """Return whether rows of the one shape end inside of rows of the other one, and the reverse.

    Args:
        before: the shape that is viewed.
        after: the shape it is viewed as.
        batch_only: look only at rows that are a whole example, with the first axis as the batch.

    Example:
        >>> splits_rows((4, 25), (10, 10)), splits_rows((4, 25), (20, 5)), splits_rows((4, 25), (2, 50))
        (True, False, False)
    """
    rows = [math.prod(before[1:])] if batch_only else _row_lengths(before)
    return before[:1] != (1,) and any(
        row % other and other % row for row in rows for other in _row_lengths(after) if row and other
    )


def _row_lengths(shape: Shape) -> list[int]:
    return [math.prod(shape[axis:]) for axis in range(1, len(shape))]


def _is_made_of(products: Shape, factors: Shape) -> bool:
    """Return whether each number of one tuple is the product of some of another one, which is used up."""
    if not products:
        return not factors
    rest = list(range(len(factors)))
    return any(
        _is_made_of(products[1:], tuple(factors[at] for at in rest if not chosen >> at & 1))
        for chosen in range(1, 2 ** len(factors))
        if math.prod(factors[at] for at in rest if chosen >> at & 1) == products[0]
    )


def _is_made_in_order(products: Shape, factors: Shape) -> bool:
    """Return whether neighbouring numbers of one tuple, multiplied, are the other one."""
    at = 0
    for product in products:
        made = 1
        while made != product and at < len(factors):
            made, at = made * factors[at], at + 1
        if made != product:
            return False
    return at == len(factors)


def _is_reordered_in(runs: Sequence[Mapping[str, Shape]], node: Node) -> bool:
    pairs = [(run.get(node.input_nodes[0]), run.get(node.name)) for run in runs]
    return any(before and after and splits_rows(before, after) for before, after in pairs) and all(
        before is not None and after is not None and is_reordered(before, after) for before, after in pairs
    )


def _views_of_activations(nodes: Sequence[Node]) -> list[Node]:
    """Return the views of what is computed from inputs, without those that shift rows."""
    by_name = {node.name: node for node in nodes}
    computed: set[str] = set()
    views, shifts = [], set()
    for node in nodes:
        if node.op == "placeholder" or not computed.isdisjoint(node.input_nodes):
            computed.add(node.name)
        if not _is_view(node) or node.name not in computed:
            continue
        views.append(node)
        given, is_sliced = _given(node, by_name), False
        while given is not None and _name(given) in (*_KEEPS_ORDER, *_SLICES):
            is_sliced |= _name(given) in _SLICES
            given = _given(given, by_name)
        if given is not None and (_is_filled(given) or (is_sliced and _is_view(given))):
            shifts |= {node.name, given.name}
    return [view for view in views if view.name not in shifts]


def _is_view(node: Node) -> bool:
    is_call = node.op == "call_method" or (node.op == "call_function" and "torch" in node.target)
    return _name(node) in _VIEWS and is_call and not node.assumed


def _is_filled(node: Node) -> bool:
    """Return whether a node puts something before or behind the rows of its operand."""
    is_module = node.op == "call_module" and node.module_type is not None and "Pad" in node.module_type
    return is_module or _name(node) in _FILLS


def _is_written_at(node: Node, source_map: SourceMap) -> bool:
    """Return whether the user's lines at a node's location call its function, and not another one that does."""
    place = node.location
    if place is None or is_installed(place.file):
        return False
    statement = source_map.expressions.statement_at(place.file, place.line)
    return statement is not None and any(
        isinstance(each, ast.Call)
        and place.line <= each.lineno <= place.end_line
        and ast.unparse(each.func).rpartition(".")[2] == _name(node)
        for each in ast.walk(statement)
    )


def _given(node: Node, nodes: Mapping[str, Node]) -> Node | None:
    return nodes.get(node.input_nodes[0]) if node.input_nodes else None


def _name(node: Node) -> str:
    return node.target.rpartition(".")[2]


def _shape(output: Any) -> Shape | None:
    shape = output.get("shape") if isinstance(output, dict) else None
    known = isinstance(shape, (list, tuple)) and all(isinstance(size, int) for size in shape)
    return tuple(shape) if shape is not None and known else None


def _order_message(node: Node, before: Shape, after: Shape) -> str:
    return (
        f"{_call(node, before, after)} keeps the numbers in their order: the axes are not exchanged, and numbers of "
        f"different ones come together. transpose or permute exchanges axes."
    )


def _batch_message(node: Node, before: Shape, after: Shape) -> str:
    row = math.prod(after[1:])
    return (
        f"{_call(node, before, after)} mixes the batch: an example has {math.prod(before[1:])} numbers, a row here "
        f"{row}, so rows begin in one example and end in the next one."
    )


def _call(node: Node, before: Shape, after: Shape) -> str:
    return f"{_name(node)} of {_text(before)} as {_text(after)}"


def _text(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _problem(report: Report, node: Node, message: str) -> Problem:
    return Problem(
        AXES_MIXED,
        severity_of(AXES_MIXED),
        message,
        node.location,
        module_path=node.module_path,
        model=report.target,
    )
