"""Activation that a model's result is certainly computed by, whatever its mode and its inputs are.

It is proven from the ``return`` of ``forward`` inwards: each function has one, which returns what the next function
returns, and the last one what the activation returns. Branches before it then make no difference.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .....report.graph import Node
from .....report.locations import Location
from .....report.report import Report
from ....model.locations.source_map import SourceMap
from .file_names import FileNames, TextScope
from .module_uses import ModuleUses

_MODULES = {"Softmax": "softmax", "Sigmoid": "sigmoid"}
ACTIVATIONS = {
    f"{module}.{name}": name
    for name in _MODULES.values()
    for module in ("torch", "torch.nn.functional", "torch.special")
}
"""Names of activations by the dotted path of the function."""


@dataclass(frozen=True)
class Activated:
    """The last operation of a model."""

    name: str
    location: Location
    way: tuple[str, ...]
    """Attributes of modules by which the result is computed, outermost first."""
    is_in_forward: bool
    """Whether the model's own ``forward`` calls it."""
    is_part: bool
    """Whether it is the last module of a Sequential."""


def result_of(report: Report) -> Node | None:
    """Return the node whose output the model returns; None unless it returns one tensor."""
    last = report.nodes[-1] if report.nodes else None
    if last is None or last.op != "output" or len(last.input_nodes) != 1 or last.output is None:
        return None
    node = next(each for each in report.nodes if each.name == last.input_nodes[0])
    return node if "shape" in last.output else None


def activation_name(node: Node) -> str | None:
    """Return the name of the activation that a node computes; None if it is another operation."""
    if node.op == "call_module":
        return _MODULES.get(node.module_type or "")
    name = node.target.rpartition(".")[2]
    is_torch = node.op == "call_method" or (node.op == "call_function" and node.target.startswith("torch."))
    return name if is_torch and name in _MODULES.values() else None


def activation_of(report: Report, names: FileNames, file: str, source_map: SourceMap) -> Activated | None:
    """Return the activation that a model ends with in each call; None if that is not proven."""
    node = result_of(report)
    name = None if node is None else activation_name(node)
    if node is None or name is None or node.location is None or not node.stack:
        return None
    way: list[str] = []
    scopes = [_scope_at(step.location, names, file, source_map) for step in node.stack]
    paths = [*(step.module_path or "" for step in node.stack), node.module_path or ""]
    for index, scope in enumerate(scopes):
        call = None if scope is None else _returned(scope, names)
        if scope is None or call is None:
            return None
        is_last = index == len(scopes) - 1
        inner = paths[index + 1].removeprefix(f"{paths[index]}." if paths[index] else "")
        if node.op == "call_module" if is_last else paths[index + 1] != paths[index]:
            parts = inner.split(".")
            is_right = _own_name(call.func, scope) == parts[0] and _is_end_of(paths[index], parts, report)
            way += [each for each in parts if not each.isdecimal()]
        elif is_last:
            is_right = _computes(call.func, name, scope, names)
        else:
            is_right, method = _is_call_of(call.func, scope, scopes[index + 1], names)
            way += method
        if not is_right:
            return None
    is_forward = len(scopes) == 1 and scopes[0] is not None and getattr(scopes[0].node, "name", "") == "forward"
    is_part = node.op == "call_module" and "." in paths[-1]
    return Activated(name, node.location, tuple(way), is_forward, is_part)


def needs_no_arguments(found: Activated, uses: ModuleUses, target: ast.ClassDef, names: FileNames) -> bool:
    """Return whether a class ends with that activation whatever its constructor is given."""
    if not found.is_in_forward or not found.way:
        return found.is_in_forward
    store = names.own_attribute(found.way[0], target)
    if store is None or not uses.takes_parts_as_made(found.way[0]):
        return False
    made, scope = names.assigned(store[0]), store[1]
    statement = names.parents[store[0]]
    if statement not in getattr(scope.node, "body", ()) or not isinstance(made, ast.Call):
        return False
    if found.is_part:
        if names.imported(made.func, scope) != "torch.nn.Sequential" or not made.args:
            return False
        made = made.args[-1]
    modules = [f"torch.nn.{each}" for each, name in _MODULES.items() if name == found.name]
    return isinstance(made, ast.Call) and names.imported(made.func, scope) in modules


def _scope_at(place: Location, names: FileNames, file: str, source_map: SourceMap) -> TextScope | None:
    """Return the function of the model's file around a place."""
    around = source_map.expressions.statements_at(place.file, place.line) if place.file == file else []
    functions = [each for each in around if isinstance(each, ast.FunctionDef)]
    is_named = bool(functions) and place.function in (None, functions[-1].name)
    return names.scopes.get(functions[-1]) if is_named else None


def _returned(scope: TextScope, names: FileNames) -> ast.Call | None:
    """Return the call whose result a function returns whenever it returns; None if it is not one call."""
    parts = list(ast.walk(scope.node))
    returns = [each for each in parts if isinstance(each, ast.Return)]
    is_generator = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in parts)
    if len(returns) != 1 or is_generator or getattr(scope.node, "decorator_list", []):
        return None
    value = returns[0].value
    if isinstance(value, ast.Name):
        # ``x = softmax(x)`` and ``return x``, with nothing between them that changes it.
        body = getattr(names.parents[returns[0]], "body", [])
        before = body[body.index(returns[0]) - 1] if returns[0] in body[1:] else None
        match before:
            case ast.Assign(targets=[ast.Name(id=stored)], value=assigned) if stored == value.id:
                value = assigned
    return value if isinstance(value, ast.Call) else None


def _own_name(function: ast.expr, scope: TextScope) -> str:
    return function.attr if isinstance(function, ast.Attribute) and scope.is_own(function) else ""


def _computes(function: ast.expr, name: str, scope: TextScope, names: FileNames) -> bool:
    """Return whether a call is that of an activation by its own name: ``F.softmax(y)`` or ``y.softmax(1)``."""
    path = names.imported(function, scope)
    is_method = isinstance(function, ast.Attribute) and function.attr == name and not scope.is_own(function)
    return ACTIVATIONS.get(path) == name if path else is_method


def _is_call_of(
    function: ast.expr, scope: TextScope, called: TextScope | None, names: FileNames
) -> tuple[bool, list[str]]:
    """Return whether a call is that of a function of the file, and the name of the method that it is."""
    own = _own_name(function, scope)
    if own:
        return own == getattr(None if called is None else called.node, "name", ""), [own]
    found = names.binding(function.id, scope) if isinstance(function, ast.Name) else None
    return found is not None and called is not None and found[0].definition is called.node, []


def _is_end_of(around: str, parts: list[str], report: Report) -> bool:
    """Return whether each module of a path below an attribute is the last one of a Sequential."""
    path = f"{around}.{parts[0]}" if around else parts[0]
    for part in parts[1:]:
        inside = [each.path for each in report.modules if each.path.rpartition(".")[0] == path]
        kinds = [each.type for each in report.modules if each.path == path]
        if kinds != ["Sequential"] or inside[-1:] != [f"{path}.{part}"]:
            return False
        path = f"{path}.{part}"
    return True
