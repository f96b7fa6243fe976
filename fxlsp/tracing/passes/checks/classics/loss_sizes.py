"""Losses of operands that broadcast each other, such as (N, 1) and (N,) (FX607)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from .....report.codes import LOSS_SIZES, severity_of
from .....report.graph import Node
from .....report.problems import Problem
from .....report.report import Report

_FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_MODULES = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def losses_of_other_sizes(report: Report) -> Iterator[Problem]:
    """Yield a problem for each loss of which each operand is repeated to fit the other.

    Nothing for guessed inputs, of which a target of another size may be one.
    """
    if report.recipe.source == "search":
        return
    for node in report.nodes:
        name = _loss(node)
        shapes = [] if node.assumed else [_shape(each) for each in node.inputs[:2]]
        if name is None or len(shapes) < 2:
            continue
        first, second = shapes
        if first is None or second is None:
            continue
        result = _broadcast(first, second)
        if result is not None and math.prod(result) > max(math.prod(first), math.prod(second)):
            yield Problem(
                LOSS_SIZES,
                severity_of(LOSS_SIZES),
                f"{name} of {_text(first)} and {_text(second)} compares each value with each other one, as "
                f"{_text(result)}: the model learns the mean of the targets.",
                node.location,
                module_path=node.module_path,
                model=report.target,
            )


def _loss(node: Node) -> str | None:
    """Return the name of a loss that compares its operands element by element."""
    if node.op == "call_module":
        return node.module_type if node.module_type in _MODULES else None
    name = node.target.rpartition(".")[2]
    return name if node.op == "call_function" and name in _FUNCTIONS and "torch" in node.target else None


def _shape(output: Any) -> tuple[int, ...] | None:
    shape = output.get("shape") if isinstance(output, dict) else None
    known = isinstance(shape, (list, tuple)) and all(isinstance(size, int) for size in shape)
    return tuple(shape) if shape is not None and known else None


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    pairs = list(zip_longest(reversed(first), reversed(second), fillvalue=1))
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        return None
    return tuple(other if one == 1 else one for one, other in reversed(pairs))


def _text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
