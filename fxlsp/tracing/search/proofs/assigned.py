"""Computed tensors that are assigned to a parameter or layer, wherever the model runs."""

from __future__ import annotations

import ast

import torch

from ...model.diagnosis.layer_results import calls_name
from ...model.diagnosis.own_mistakes import is_computed_for_parameter
from ...model.diagnosis.returned_values import functions_of_traceback
from ...model.locations.class_text import methods_of
from ...model.locations.source_map import SourceMap
from ..conditions import statements_before
from ..evidence import own_frames
from ..trials.runner import TrialOutcome

_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.Match, ast.Try, ast.BoolOp)


def is_always_assigned(outcome: TrialOutcome, places: SourceMap) -> bool:
    """Return whether a module refuses a computed tensor for what its constructor registers whatever it is given.

    No branch leads to the assignment or past it, and none to what is registered.
    """
    error = outcome.error
    if error is None or not is_computed_for_parameter(error):
        return False
    running = functions_of_traceback(error, places)
    match places.statement_of(running[-1].instruction) if running else None:
        case (
            ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)])
            | ast.AugAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name))
        ):
            owner = running[-1].owner
        case _:
            return False
    frames = own_frames(error.__traceback__, places)
    passed = [statements_before(frame.f_code, line) for frame, line in frames]
    is_reached = all(passed) and not any(_may_branch(node) for nodes in passed for node in nodes)
    return is_reached and owner is not None and _is_always_registered(name, owner, places)


def _may_branch(statement: ast.stmt) -> bool:
    return any(isinstance(node, _BRANCHES) for node in ast.walk(statement))


def _is_always_registered(name: str, owner: torch.nn.Module, places: SourceMap) -> bool:
    """Return whether the constructor assigns an attribute in no branch, as a parameter or layer that it makes there."""
    stores = [
        (method, node)
        for method in methods_of(type(owner), places)
        for node in method.attributes(ast.Store)
        if node.attr == name and method.name == "__init__"
    ]
    if len(stores) != 1:
        return False
    method, node = stores[0]
    made = type(owner._parameters.get(name, owner._modules.get(name))).__name__
    return any(
        isinstance(statement, ast.Assign) and statement.targets == [node] and calls_name(statement.value, made)
        for statement in method.definition.body
    )
