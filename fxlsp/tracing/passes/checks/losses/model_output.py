"""Activation that a model's result is certainly computed by, whatever its mode and its inputs are."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import torch

from .....report.graph import Node
from .....report.locations import Location, Step
from .....report.report import Report
from ....model.locations.source_map import SourceMap
from .bindings import FileNames, Function

ACTIVATIONS = ("softmax", "sigmoid")
_MODULES = {"Softmax": "softmax", "Sigmoid": "sigmoid"}
_CLASSES: tuple[type[torch.nn.Module], ...] = (torch.nn.Softmax, torch.nn.Sigmoid)
_BRANCHES = (ast.If, ast.IfExp, ast.Match, ast.Try, ast.While)


@dataclass(frozen=True)
class Activated:
    """The last operation of a model."""

    name: str
    location: Location
    node: Node
    attribute: str
    """Attribute of ``self`` that the module is, or is a part of; "" if it is no module."""


def result_of(report: Report) -> Node | None:
    """Return the node whose output the model returns; None unless it returns one tensor."""
    last = report.nodes[-1] if report.nodes else None
    if last is None or last.op != "output" or len(last.input_nodes) != 1 or last.output is None:
        return None
    node = next(each for each in report.nodes if each.name == last.input_nodes[0])
    return node if "shape" in last.output else None


def activation_of(report: Report, source_map: SourceMap) -> Activated | None:
    """Return the activation that a model ends with in each call; None if another way through its code is thinkable."""
    node = result_of(report)
    name = None if node is None else _activation(node)
    if node is None or name is None or node.location is None:
        return None
    if not all(_runs_always(step, source_map) for step in node.stack):
        return None
    attribute = ""
    if node.op == "call_module":
        inside = node.module_path or ""
        around = node.stack[-1].module_path or ""
        attribute = inside.removeprefix(f"{around}." if around else "").partition(".")[0]
    statement = _statement(node.location, source_map)
    written = [] if statement is None else [each for each in ast.walk(statement) if _is_written(each, name, attribute)]
    return Activated(name, node.location, node, attribute) if len(written) == 1 else None


def needs_no_arguments(found: Activated, target: ast.ClassDef, names: FileNames) -> bool:
    """Return whether a class ends with that activation whatever its constructor is given."""
    if len(found.node.stack) != 1:
        return False
    if not found.attribute:
        return True
    store = names.own_attribute(found.attribute, target)
    if store is None or not store.is_unconditional or getattr(store.scope.node, "name", "") != "__init__":
        return False
    made = store.value
    if not isinstance(made, ast.Call):
        return False
    if "." in (found.node.module_path or ""):
        if names.torch_object(made.func, store.scope) is not torch.nn.Sequential or not made.args:
            return False
        made = made.args[-1]
    return isinstance(made, ast.Call) and names.torch_object(made.func, store.scope) in _CLASSES


def _activation(node: Node) -> str | None:
    if node.op == "call_module":
        return _MODULES.get(node.module_type or "")
    name = node.target.rpartition(".")[2]
    is_torch = node.op == "call_method" or (node.op == "call_function" and "torch" in node.target)
    return name if is_torch and name in ACTIVATIONS else None


def _statement(place: Location, source_map: SourceMap) -> ast.stmt | None:
    around = _around(place, source_map)
    return around[-1] if around else None


def _around(place: Location, source_map: SourceMap) -> list[ast.stmt]:
    """Return the statements around a line, outermost first, of several statements on it the first one."""
    return source_map.expressions.statements_at(place.file, place.line)


def _runs_always(step: Step, source_map: SourceMap) -> bool:
    """Return whether the function around a call has one way through it, at the end of which it returns."""
    functions = [each for each in _around(step.location, source_map) if isinstance(each, Function)]
    if not functions:
        return False
    parts = list(ast.walk(functions[-1]))
    returns = [each for each in parts if isinstance(each, ast.Return)]
    branches = [each for each in parts if isinstance(each, _BRANCHES) and not _only_raises(each)]
    return len(returns) == 1 and not branches and not functions[-1].decorator_list


def _only_raises(branch: ast.AST) -> bool:
    return isinstance(branch, ast.If) and not branch.orelse and all(isinstance(each, ast.Raise) for each in branch.body)


def _is_written(node: ast.AST, name: str, attribute: str) -> bool:
    """Return whether a syntax node is the call of an activation by its own name, or of an attribute of ``self``."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if attribute:
        return isinstance(called, ast.Attribute) and called.attr == attribute and isinstance(called.value, ast.Name)
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == name
