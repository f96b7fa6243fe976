"""Parsing, rewriting and printing of one Python expression.

An expression here is one that a person wrote on a few lines. One that nests deeper than :data:`_DEEPEST` is rejected,
so that functions may recurse.
"""

from __future__ import annotations

import ast
import re
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


_OPERATORS: dict[str, tuple[str, type[ast.operator]]] = {
    "+": ("iadd", ast.Add),
    "-": ("isub", ast.Sub),
    "*": ("imul", ast.Mult),
    "/": ("itruediv", ast.Div),
    "//": ("ifloordiv", ast.FloorDiv),
    "%": ("imod", ast.Mod),
    "**": ("ipow", ast.Pow),
    "&": ("iand", ast.BitAnd),
    "|": ("ior", ast.BitOr),
    "^": ("ixor", ast.BitXor),
    "@": ("imatmul", ast.MatMult),
    "<<": ("ilshift", ast.LShift),
    ">>": ("irshift", ast.RShift),
}
"""The function of the module ``operator``, and the node, of each augmented assignment."""


def changed_object(name: str, target: str, operator: str, value: str) -> ast.expr | None:
    """Return an expression for the object of ``name`` after ``target operator value`` has changed it.

    For example ``(lambda it: it.__setitem__(0, 1) or it)(x)`` for ``x[0] = 1``; None where there is none.
    """
    changed, right = parse_expression(target), parse_expression(value)
    if changed is None or right is None:
        return None
    if operator != "=":
        function, node = _OPERATORS[operator[:-1]]
        if isinstance(changed, ast.Name) and isinstance(right, ast.Constant):
            # A tensor stays what it is, and numbers and texts have no other object.
            return ast.BinOp(changed, node(), right)
        right = ast.Call(parse_expression(f"__import__('operator').{function}") or changed, [changed, right], [])
    if isinstance(changed, ast.Name):
        return right
    if not isinstance(changed, ast.Subscript):
        return None
    call = ast.Call(ast.Attribute(changed.value, "__setitem__", ast.Load()), [_index(changed.slice), right], [])
    body = substituted(ast.BoolOp(ast.Or(), [call, ast.Name(name, ast.Load())]), {name: ast.Name(_CHANGED, ast.Load())})
    if body is None:
        return None
    return ast.Call(ast.Lambda(_one_parameter(_CHANGED), body), [ast.Name(name, ast.Load())], [])


def configured_object(name: str, call: ast.Call) -> ast.expr | None:
    """Return an expression for the object of ``name`` after a method of it was called.

    For example ``(lambda it_: it_ if it_.freeze(2) is None else it_)(encoder)`` for ``encoder.freeze(2)``.
    """
    called = substituted(call, {name: ast.Name(_CHANGED, ast.Load())})
    if called is None:
        return None
    # Not as ``or``, as which a result that is no truth value would raise.
    is_none = ast.Compare(called, [ast.Is()], [ast.Constant(None)])
    it = ast.Name(_CHANGED, ast.Load())
    return ast.Call(ast.Lambda(_one_parameter(_CHANGED), ast.IfExp(is_none, it, it)), [ast.Name(name, ast.Load())], [])


_CHANGED = "it_"


def _one_parameter(name: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(name)], None, [], [], None, [])


def _index(index: ast.expr) -> ast.expr:
    """Return what ``x[index]`` passes to ``__setitem__``."""
    if isinstance(index, ast.Slice):
        parts = (index.lower, index.upper, index.step)
        return ast.Call(ast.Name("slice", ast.Load()), [each or ast.Constant(None) for each in parts], [])
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_index(each) for each in index.elts], ast.Load())
    return index


_TENSOR_MAKERS = re.compile(
    r"arange|as_tensor|bernoulli|cat|empty(_like)?|eye|from_numpy|full(_like)?|linspace|logspace|normal|ones(_like)?"
    r"|rand(_like)?|randint(_like)?|randn(_like)?|randperm|stack|tensor|zeros(_like)?"
)
"""Functions of torch that return a tensor."""
_OTHER_RESULTS = frozenset({"size", "dim", "numel", "item", "tolist", "numpy", "split", "chunk", "unbind", "topk"})
"""Methods of a tensor that return something else."""


def makes_tensor(expression: ast.expr) -> bool:
    """Return whether the value of an expression certainly is a tensor."""
    while True:
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
            module, _, name = (dotted(expression.func) or "").rpartition(".")
            if module == "torch":
                return _TENSOR_MAKERS.fullmatch(name) is not None
            if expression.func.attr in _OTHER_RESULTS:
                return False
            expression = expression.func.value
        elif isinstance(expression, ast.BinOp):
            return makes_tensor(expression.left) or makes_tensor(expression.right)
        elif isinstance(expression, ast.UnaryOp) and not isinstance(expression.op, ast.Not):
            expression = expression.operand
        elif isinstance(expression, ast.Subscript):
            expression = expression.value
        else:
            return False
