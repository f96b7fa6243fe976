"""Parsing, rewriting and printing of one Python expression.

An expression here is one that a person wrote on a few lines. One that nests deeper than :data:`_DEEPEST` is rejected,
so that functions may recurse.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeVar

from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_expression

T = TypeVar("T", bound=ast.AST)

_DEEPEST = 60
LONGEST_EXPRESSION = 4000
"""Characters of the longest expression that is parsed; a longer one is a table of data."""
_MOST_NODES = 2000
"""The largest number of nodes that a substitution may add."""

MODE_METHODS = frozenset({"eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "to"})
"""Methods of a module that modify it and return it."""

_DEVICE_METHODS = frozenset({"cuda", "cpu", "xpu", "mps", "share_memory"})
"""Methods that move a module or tensor: shapes do not depend on the device, which may not exist."""

CHAINED_METHODS = MODE_METHODS | _DEVICE_METHODS
"""Methods of a module that return it."""

_WRAPPERS = ("DataParallel", "DistributedDataParallel", "torch.compile", "torch.jit.script")
"""Functions and classes that wrap the module passed to them."""


def parse_expression(text: str) -> ast.expr | None:
    """Parse a text as one expression; None if it is not one.

    Line breaks need no brackets around them.
    """
    if len(text) > LONGEST_EXPRESSION:
        return None
    try:
        expression = parsed_expression(text)
    except SYNTAX_ERRORS:
        return None
    # An expression that starts on the line before the text consists of the added parentheses: "", "a, b" or ") + (".
    alone = expression.lineno > 1
    return expression if alone and _depth(expression) <= _DEEPEST else None


def _depth(expression: ast.expr) -> int:
    depth = 0
    level: list[ast.AST] = [expression]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def write(expression: ast.expr) -> str:
    """Return the source of an expression, on one line."""
    return ast.unparse(expression)


def write_arguments(call: ast.Call) -> str:
    """Return the source of the arguments of a call, without parentheses."""
    parts = [write(argument) for argument in call.args]
    parts += [f"{each.arg}={write(each.value)}" if each.arg else f"**{write(each.value)}" for each in call.keywords]
    return ", ".join(parts)


def as_written(text: str, part: ast.expr) -> str:
    """Return the source of a part of the expression that was parsed from ``text``."""
    return ast.get_source_segment(f"(\n{text}\n)", part) or write(part)


def called_parts(text: str, call: ast.Call) -> tuple[str, str]:
    """Return the source of the callee and of the arguments of a call in ``text``."""
    callee, whole = as_written(text, call.func), as_written(text, call)
    brackets = whole[len(callee) :].strip()
    if not whole.startswith(callee) or not brackets.startswith("("):
        return write(call.func), write_arguments(call)
    return callee, brackets[1:-1].strip()


def dotted(expression: ast.expr) -> str | None:
    """Return ``a.b.c`` for a name or chain of attributes; None for another expression."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return ".".join([expression.id, *reversed(parts)]) if isinstance(expression, ast.Name) else None


def free_names(expression: ast.expr) -> frozenset[str]:
    """Return the names that an expression reads from the code around it."""
    nodes = list(ast.walk(expression))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return frozenset(name.id for name in names if name.id not in bound)


def copied(tree: T) -> T:
    """Return a deep copy of a tree, in a third of the time of ``copy.deepcopy``."""
    made = type(tree).__new__(type(tree))
    vars(made).update({name: _copied_part(value) for name, value in vars(tree).items()})
    return made


def _copied_part(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied_part(item) for item in value]
    # Expression contexts (``Load``, ``Store``) are never modified in place.
    return copied(value) if isinstance(value, ast.AST) and not isinstance(value, ast.expr_context) else value


def substituted(expression: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return the expression with names replaced; None if it gets too large."""
    sizes = {name: sum(1 for _ in ast.walk(value)) for name, value in values.items()}
    names = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
    if sum(sizes.get(name, 0) for name in names) > _MOST_NODES:
        return None
    result: ast.expr = _Substitution(values).visit(copied(expression))
    return result if _depth(result) <= _DEEPEST else None


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        return node if value is None else copied(value)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.args = [argument for argument in node.args if not _spreads_nothing(argument)]
        node.keywords = [each for each in node.keywords if each.arg or not _is_empty(each.value)]
        return node


def _spreads_nothing(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred) and _is_empty(argument.value)


def _is_empty(expression: ast.expr) -> bool:
    if isinstance(expression, ast.Dict):
        return not expression.keys
    return isinstance(expression, ast.Tuple) and not expression.elts


def plain(expression: ast.expr) -> ast.expr:
    """Return the expression without the parts that do not affect a trace.

    It removes moves to a device (``.cuda()``, ``.to(device)``, ``device=...``) and wrappers (``nn.DataParallel(net)``).
    """
    result: ast.expr = _Plain().visit(copied(expression))
    return result


class _Plain(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = dotted(node.func) or ""
        if name.startswith("torch."):
            node.keywords = [each for each in node.keywords if each.arg != "device"]
        if node.args and any(name == wrapper or name.endswith(f".{wrapper}") for wrapper in _WRAPPERS):
            return node.args[0]
        if not isinstance(node.func, ast.Attribute):
            return node
        if node.func.attr in _DEVICE_METHODS:
            return node.func.value
        if node.func.attr == "to":
            node.args = [argument for argument in node.args if _is_dtype(argument)]
            node.keywords = [each for each in node.keywords if each.arg == "dtype"]
            return node if node.args or node.keywords else node.func.value
        return node


def _is_dtype(expression: ast.expr) -> bool:
    return (dotted(expression) or "").startswith("torch.")


def first_of_chain(expression: ast.expr) -> ast.expr:
    """Return ``Net(10)`` for ``Net(10).half().eval()``."""
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        if expression.func.attr not in MODE_METHODS:
            break
        expression = expression.func.value
    return expression
