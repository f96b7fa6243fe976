"""A function that torch.fx shall record as one node and not look into: ``torch.fx.wrap``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.class_context import attribute_of_self, class_around, self_of
from fxlsp.ide.fixes.fix import Complaint, Fix
from fxlsp.ide.fixes.module_expressions import made_class
from fxlsp.ide.fixes.torch_names import behind_imports, spelling
from fxlsp.ide.fixes.traced_values import is_shadowed, takes_proxy
from fxlsp.source.python.python_tree import Function, PythonTree

_WRAP = "torch.fx.wrap"


def wrapped_helper(complaint: Complaint) -> Iterator[Fix]:
    """``@torch.fx.wrap`` above the helper function that holds the problem, if models of this file call it.

    torch.fx replaces a wrapped function under its name in its own module: one that only other modules call, under the
    name that they import, would not be replaced.
    """
    tree = complaint.tree
    node = tree.node_at(complaint.span, ast.expr, ast.stmt)
    helper = None if node is None else _helper(tree, node)
    if helper is None or not _is_called_by_models(tree, helper):
        return
    name, imports = spelling(complaint, _WRAP)
    start = tree.start(helper)
    decorator = complaint.edit(start, start, f"@{name}{tree.newline}")
    yield Fix(f"Make {helper.name} one node of the graph with @{name}", (*imports, decorator))


def wrapped_length(complaint: Complaint) -> Iterator[Fix]:
    """``torch.fx.wrap("len")``, which makes each ``len`` of a traced value in this file a node."""
    tree = complaint.tree
    call = tree.node_at(complaint.span, ast.Call)
    if call is None or not isinstance(call.func, ast.Name) or call.func.id != "len" or is_shadowed(tree, "len"):
        return
    if takes_proxy(tree, call, strict=True):
        name, imports = spelling(complaint, _WRAP)
        text = f'{name}("len")'
        line = behind_imports(complaint, tree.newline + text)
        yield Fix(f"Record len with {text}", (*imports, line), preferred=True)


def _helper(tree: PythonTree, node: ast.AST) -> Function | None:
    """The function at top level whose body holds a node; one that is decorated is not simply what it says."""
    for each in (node, *tree.ancestors(node)):
        if isinstance(each, Function) and tree.parent(each) is tree.module:
            return each if isinstance(each, ast.FunctionDef) and not each.decorator_list else None
    return None


def _is_called_by_models(tree: PythonTree, helper: Function) -> bool:
    """Whether methods of this file call a helper, and can do so with its call and its result in the graph."""
    calls = [
        node
        for node in ast.walk(tree.module)
        if isinstance(node, ast.Call) and _calls(node, helper.name) and tree.function_of(node) not in (None, helper)
    ]
    return any(class_around(tree, call) is not None for call in calls) and all(
        takes_proxy(tree, call, strict=False) and all(_can_be_argument(tree, call, each) for each in _arguments(call))
        for call in calls
    )


def _calls(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _can_be_argument(tree: PythonTree, call: ast.Call, argument: ast.expr) -> bool:
    """Whether a node may be given an argument: a graph holds no module, function or object."""
    if isinstance(argument, ast.Lambda | ast.Starred):
        return False
    around = class_around(tree, call)
    if around is None:
        return True
    owner, method = around
    if isinstance(argument, ast.Name) and argument.id == self_of(method):
        return False
    name = attribute_of_self(argument, method)
    if name is None:
        return True
    found = owner.only_assignment(name)
    return (
        found is not None
        and not isinstance(found.value, ast.Lambda | ast.List | ast.Dict)
        and (made_class(owner.tree, found.value) is None)
    )
