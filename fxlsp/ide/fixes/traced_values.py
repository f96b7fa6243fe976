"""Where a traced value may stand in the place of a Python value, as far as the function around it tells."""

from __future__ import annotations

import ast
import builtins

from fxlsp.ide.fixes.class_context import attribute_of_self
from fxlsp.ide.fixes.torch_names import full_name
from fxlsp.source.python.python_tree import Function, PythonTree

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_PASS_ON = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Tuple, ast.List)
"""What makes a traced value, or a structure of them, of one."""


def takes_proxy(tree: PythonTree, node: ast.expr, *, strict: bool, seen: frozenset[str] = frozenset()) -> bool:
    """Whether torch.fx goes on where an expression becomes a traced value: where it is only calculated with, handed on
    and returned.

    Args:
        strict: it was a Python number before, so functions of the model that it is given to may need one.
        seen: the local names that are being looked into already.
    """
    parent = tree.parent(node)
    if isinstance(parent, _STATEMENTS):
        return node is not parent.value or _targets_take(tree, parent, strict, seen)
    if isinstance(parent, ast.Expr):
        return True
    if isinstance(parent, ast.Return):
        function = tree.function_of(parent)
        return function is not None and (function.name == "forward" or not strict)
    if isinstance(parent, ast.Call | ast.keyword):
        call = parent if isinstance(parent, ast.Call) else tree.parent(parent)
        return isinstance(call, ast.Call) and (node is call.func or _callee_takes(tree, call, strict))
    if isinstance(parent, ast.Subscript):
        return node is parent.value and takes_proxy(tree, parent, strict=strict, seen=seen)
    if isinstance(parent, ast.IfExp) and node is parent.test:
        return False
    if isinstance(parent, (*_PASS_ON, ast.IfExp)) and not _asks_for_truth(parent):
        return takes_proxy(tree, parent, strict=strict, seen=seen)
    return False


def _asks_for_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _callee_takes(tree: PythonTree, call: ast.Call, strict: bool) -> bool:
    """Whether what is called takes traced values: torch's functions, modules of the model, methods of tensors."""
    full = full_name(tree, call.func)
    if full is not None:
        return full.startswith(("torch.", "math.")) or not strict
    if isinstance(call.func, ast.Name):
        return not strict and not hasattr(builtins, call.func.id)
    function = tree.function_of(call)
    called = None if function is None else attribute_of_self(call.func, function)
    return isinstance(call.func, ast.Attribute) and not (strict and called in _methods(tree, function))


def _methods(tree: PythonTree, function: Function | None) -> frozenset[str]:
    owner = None if function is None else tree.class_of(function)
    return frozenset() if owner is None else frozenset(each.name for each in owner.body if isinstance(each, Function))


def _targets_take(
    tree: PythonTree, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, strict: bool, seen: frozenset[str]
) -> bool:
    """Whether all uses of the names that an assignment gives the value take it."""
    function = tree.function_of(statement)
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    names = frozenset(part.id for part in parts if isinstance(part, ast.Name))
    if function is None or len(names) < len(parts):
        return False
    return all(
        takes_proxy(tree, node, strict=strict, seen=seen | names)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names - seen
    )


def is_shadowed(tree: PythonTree, name: str) -> bool:
    """Whether the file gives a builtin's name another meaning."""
    return hasattr(builtins, name) and any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
        or (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and tree.class_of(node) is None)
        for node in ast.walk(tree.module)
    )
