"""Failures by what a call returns whatever it is given: a value that is no tensor, or so many items of a tuple."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...model.diagnosis.failures import text_of
from ...model.diagnosis.layer_results import is_always_made, layer_of_tuples
from ...model.diagnosis.returned_values import (
    RunningFunction,
    called_function,
    functions_of_traceback,
    returned_value,
)
from ...model.locations.source_map import SourceMap
from ..trials.runner import TrialOutcome
from .reasons import is_of_wrong_type

_PARTS = {"chunk": ("chunks", "dim"), "split": ("split_size", "dim")}
"""Functions that return parts of a tensor, and their further arguments."""
_ITEMS_OF_LAYER = 2
"""Of the tuple of an attention or recurrent layer."""


def is_always_returned(outcome: TrialOutcome, places: SourceMap) -> bool:
    """Return whether a trial failed by what a call always returns, in a run that has come past its inputs."""
    error = outcome.error
    if error is None or outcome.refuses_inputs:
        return False
    running = functions_of_traceback(error, places)
    if isinstance(error, ValueError):
        return _is_unpacked_otherwise(error, running, places)
    returned = returned_value(error, running, places) if is_of_wrong_type(outcome) else None
    return returned is not None and returned.is_certain


def _is_unpacked_otherwise(error: ValueError, running: Sequence[RunningFunction], places: SourceMap) -> bool:
    """Return whether a result is unpacked into more or fewer names than it always has items.

    ``mu, logvar, z = self.encode(x)``, where each ``return`` of ``encode`` is a tuple of two.
    """
    if "values to unpack" not in text_of(error) or not running:
        return False
    here = running[-1]
    match places.statement_of(here.instruction):
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=called)):
            items = _items_of(called, here, places)
            return items not in (None, len(names)) and not any(isinstance(each, ast.Starred) for each in names)
    return False


def is_of_fixed_parts(outcome: TrialOutcome, places: SourceMap) -> bool | None:
    """Return whether a tensor is split into other parts than the names of the statement, whatever the inputs are.

    The size of that dimension comes from parameters, or ``chunk`` is asked for fewer parts: it returns no more. None if
    the trial did not fail by parts that are unpacked.
    """
    error, last, known = outcome.error, outcome.last, outcome.weight_sizes
    if not isinstance(error, ValueError) or "values to unpack" not in text_of(error) or outcome.failing is not None:
        return None
    if last is None or known is None or last.name not in _PARTS or not last.taken:
        return None
    running = functions_of_traceback(error, places)
    match places.statement_of(running[-1].instruction) if running else None:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=ast.Attribute(attr=name))):
            pass
        case _:
            return None
    if name != last.name or any(isinstance(each, ast.Starred) for each in names):
        return None
    stated = {**dict(zip(_PARTS[name], last.args[1:], strict=False)), **last.kwargs}
    count, dimension = (stated.get(each, 0) for each in _PARTS[name])
    if type(count) is not int or type(dimension) is not int:
        return False
    return known.is_fixed(last.taken[0], dimension) or (name == "chunk" and count < len(names))


def _items_of(called: ast.expr, here: RunningFunction, places: SourceMap) -> int | None:
    """Return how many items a call always returns; None if that may differ, or is not known."""
    callee = called_function(called, here, places)
    if callee is not None:
        return callee.result.length
    layer = layer_of_tuples(called, here.owner)
    return _ITEMS_OF_LAYER if layer is not None and is_always_made(layer, here.owner, places) else None
