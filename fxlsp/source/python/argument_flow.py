"""Arguments of a function's parameters: from calls in the file, or pytest."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tree_sitter import Node

from fxlsp.source.python.class_statements import with_decorators
from fxlsp.source.python.expressions import LONGEST_EXPRESSION, parse_expression
from fxlsp.source.python.scopes import Scope, ScopeKind, Scopes
from fxlsp.source.text.syntax import captures, field, first_part, text_of

_FIXTURE = "fixture"
_PARAMETRIZE = "parametrize"


class PassedArgument:
    """Expression passed to a parameter, and the byte of the code that passes it."""

    __slots__ = ("byte", "expression")

    def __init__(self, expression: ast.expr, byte: int) -> None:
        self.expression = expression
        self.byte = byte


def argument_for(name: str, function: Scope, scopes: Scopes) -> PassedArgument | None:
    """Return the argument of the first call of a function for its parameter ``name``.

    Without such a call it is the value that pytest would pass: from ``parametrize`` or a fixture.
    """
    for call, position in _calls_of(function, scopes):
        found = _passed(call, name, position, function)
        if found is not None:
            return PassedArgument(found, call.start_byte)
    return _from_pytest(name, function, scopes)


def _calls_of(function: Scope, scopes: Scopes) -> Iterator[tuple[Node, int]]:
    """Yield the calls of a function with the number of implicit parameters."""
    name, owner = _name(function), function.parent
    if name is None or owner is None:
        return
    hidden = 0
    if owner.kind is ScopeKind.CLASS:
        if name != "__init__":
            return
        name, hidden = _name(owner) or "", 1
    for call in scopes.calls.get(name, ()):
        if not function.extent[0] <= call.start_byte < function.extent[1]:
            yield call, hidden


def _passed(call: Node, name: str, hidden: int, function: Scope) -> ast.expr | None:
    if call.end_byte - call.start_byte > LONGEST_EXPRESSION:
        return None
    expression = parse_expression(text_of(call))
    if not isinstance(expression, ast.Call):
        return None
    for keyword in expression.keywords:
        if keyword.arg == name:
            return keyword.value
    names = positional_parameters(function.definition)[hidden:]
    position = names.index(name) if name in names else len(expression.args)
    before = expression.args[: position + 1]
    if position >= len(expression.args) or any(isinstance(each, ast.Starred) for each in before):
        return None
    return expression.args[position]


def positional_parameters(definition: Node) -> list[str]:
    """Return the names of the parameters that may be passed by position."""
    names: list[str] = []
    parameters = field(definition, "parameters")
    for node in [] if parameters is None else parameters.named_children:
        if node.type in ("list_splat_pattern", "keyword_separator"):
            break
        inner = first_part(node) if node.type == "typed_parameter" else field(node, "name") or node
        if inner is None or inner.type == "list_splat_pattern":
            break
        if inner.type == "identifier":
            names.append(text_of(inner))
    return names


def _from_pytest(name: str, function: Scope, scopes: Scopes) -> PassedArgument | None:
    for decorator in _decorators(function.definition):
        found = _parametrized(decorator, name)
        if found is not None:
            return PassedArgument(found, decorator.start_byte)
    return _from_fixture(name, scopes)


def _decorators(definition: Node) -> list[Node]:
    return [child for child in with_decorators(definition).children if child.type == "decorator"]


def _parametrized(decorator: Node, name: str) -> ast.expr | None:
    """Return the first value that a ``parametrize`` decorator gives to a name.

    For ``@pytest.mark.parametrize("a, b", [(1, 2), ...])`` and ``b`` that is ``2``.
    """
    text = text_of(decorator)
    expression = parse_expression(text[1:]) if _PARAMETRIZE in text and len(text) <= LONGEST_EXPRESSION else None
    if not isinstance(expression, ast.Call) or len(expression.args) < 2:
        return None
    names, values = _argument_names(expression.args[0]), expression.args[1]
    if name not in names or not isinstance(values, (ast.List, ast.Tuple)) or not values.elts:
        return None
    first = values.elts[0]
    if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) and first.func.attr == "param":
        first = first.args[0] if len(names) == 1 and first.args else ast.Tuple(first.args, ast.Load())
    if len(names) == 1:
        return first
    several = isinstance(first, (ast.Tuple, ast.List)) and len(first.elts) == len(names)
    return first.elts[names.index(name)] if several and isinstance(first, (ast.Tuple, ast.List)) else None


def _argument_names(expression: ast.expr) -> list[str]:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return [each.strip() for each in expression.value.split(",")]
    if isinstance(expression, (ast.Tuple, ast.List)):
        return [
            each.value for each in expression.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
    return []


def _from_fixture(name: str, scopes: Scopes) -> PassedArgument | None:
    """Return the value that the fixture of that name returns or yields."""
    for scope in scopes.functions.get(name, ()):
        if not any(_FIXTURE in text_of(each) for each in _decorators(scope.definition)):
            continue
        found = captures(scope.definition, "[(return_statement) (yield)] @result").get("result", [])
        value = first_part(found[0]) if len(found) == 1 else None
        expression = None if value is None else parse_expression(text_of(value))
        if value is not None and expression is not None:
            return PassedArgument(expression, value.start_byte)
    return None


def _name(scope: Scope) -> str | None:
    name = field(scope.definition, "name")
    return None if name is None else text_of(name)
