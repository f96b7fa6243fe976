"""Fixes by ``torch.fx.wrap``, which records a function as one node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.class_context import attribute_of_self, enclosing_class, self_of
from fxlsp.ide.fixes.evidence.torch_names import line_after_imports, spelling
from fxlsp.ide.fixes.evidence.traced_values import accepts_proxy, is_shadowed, module_class_name
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.source.python.python_tree import Function, PythonTree

_WRAP = "torch.fx.wrap"


def wrap_helper_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield ``@torch.fx.wrap`` for the helper function that holds the problem.

    Models of this file must call the helper. torch.fx replaces a wrapped function under its name in its own module: one
    that only other modules call, under the name that they import, would not be replaced.
    """
    tree = context.tree
    node = tree.node_at(context.span, ast.expr, ast.stmt)
    helper = None if node is None else _helper(tree, node)
    if helper is None or not _is_called_by_models(tree, helper):
        return
    name, imports = spelling(context, _WRAP)
    start = tree.start(helper)
    decorator = context.edit(start, start, f"@{name}{tree.newline}")
    yield Fix(f"Make {helper.name} one node of the graph with @{name}", (*imports, decorator))


def wrap_length_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield ``torch.fx.wrap("len")``, for which ``len`` of a traced value is a node."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    if call is None or not isinstance(call.func, ast.Name) or call.func.id != "len" or is_shadowed(tree, "len"):
        return
    if accepts_proxy(tree, call, strict=True):
        name, imports = spelling(context, _WRAP)
        text = f'{name}("len")'
        line = line_after_imports(context, tree.newline + text)
        yield Fix(f"Record len with {text}", (*imports, line), preferred=True)


def _helper(tree: PythonTree, node: ast.AST) -> Function | None:
    """Return the function at top level that contains a node.

    Returns None for a decorated function, whose decorator may change what it does.
    """
    for each in (node, *tree.ancestors(node)):
        if isinstance(each, Function) and tree.parent(each) is tree.module:
            return each if isinstance(each, ast.FunctionDef) and not each.decorator_list else None
    return None


def _is_called_by_models(tree: PythonTree, helper: Function) -> bool:
    """Return whether methods of this file call a helper that can become a node.

    Its calls and their results must be allowed in the graph.
    """
    calls = [
        node
        for node in ast.walk(tree.module)
        if isinstance(node, ast.Call) and _calls(node, helper.name) and tree.function_of(node) not in (None, helper)
    ]
    return any(enclosing_class(tree, call) is not None for call in calls) and all(
        accepts_proxy(tree, call, strict=False) and all(_can_be_argument(tree, call, each) for each in _arguments(call))
        for call in calls
    )


def _calls(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _can_be_argument(tree: PythonTree, call: ast.Call, argument: ast.expr) -> bool:
    """Return whether an argument can be passed to a node.

    A graph holds no module, function or other object.
    """
    if isinstance(argument, ast.Lambda | ast.Starred):
        return False
    around = enclosing_class(tree, call)
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
        and (module_class_name(owner.tree, found.value) is None)
    )
