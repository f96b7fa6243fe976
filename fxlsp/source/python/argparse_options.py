"""The options that a script declares with ``argparse``, and their defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.python.expressions import LONGEST_EXPRESSION, dotted, parse_expression
from fxlsp.source.text.syntax import captures, field, text_of

_CALLS = "(call function: (attribute attribute: (identifier) @method)) @call"
_PARSE = {"parse_args": False, "parse_known_args": True, "parse_intermixed_args": False}
"""Methods of a parser, and whether they return a pair whose first item holds the options."""
_NUMBERS = {"int": int, "float": float}
_OPTIONAL = ("?", "*")


class Option(NamedTuple):
    """One attribute of the result of ``parse_args``."""

    name: str
    value: ast.expr | None
    """The default; None where the command line must give the value."""
    byte: int
    """Where it is declared, which is the scope of the names in ``value``."""


def parses_arguments(expression: ast.expr) -> bool:
    """Return whether it is ``parser.parse_args()`` or ``parse_known_args()[0]``."""
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        return expression.slice.value == 0 and _parse_method(expression.value) == "parse_known_args"
    return _parse_method(expression) not in (None, "parse_known_args")


def _parse_method(expression: ast.expr) -> str | None:
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        return expression.func.attr if expression.func.attr in _PARSE else None
    return None


def options_of(root: Node) -> dict[str, Option]:
    """Return the options that a file declares, of all its parsers, by name.

    Of two with the same name the first with a known default is used; ``set_defaults`` overrides both.
    """
    found: dict[str, Option] = {}
    for node in captures(root, _CALLS).get("call", []):
        method = field(node, "function")
        name = None if method is None else field(method, "attribute")
        if name is None or text_of(name) not in ("add_argument", "set_defaults"):
            continue
        expression = parse_expression(text_of(node)) if node.end_byte - node.start_byte <= LONGEST_EXPRESSION else None
        if not isinstance(expression, ast.Call):
            continue
        options = _defaults(expression, node) if text_of(name) == "set_defaults" else _declared(expression, node)
        for option in options:
            if option.name not in found or found[option.name].value is None or text_of(name) == "set_defaults":
                found[option.name] = option
    return found


def _defaults(call: ast.Call, node: Node) -> Iterator[Option]:
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield Option(keyword.arg, keyword.value, node.start_byte)


def _declared(call: ast.Call, node: Node) -> Iterator[Option]:
    flags = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    keywords = {each.arg: each.value for each in call.keywords}
    name = _constant(keywords.get("dest")) or _destination(flags)
    if isinstance(name, str):
        positional = bool(flags) and not flags[0].startswith("-")
        yield Option(name, _value(keywords, positional), node.start_byte)


def _destination(flags: list[str]) -> str | None:
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else None)
    return None if long is None else long.lstrip("-").replace("-", "_")


def _value(keywords: dict[str | None, ast.expr], positional: bool) -> ast.expr | None:
    action, default = _constant(keywords.get("action")), keywords.get("default")
    if default is not None:
        return None if (dotted(default) or "").endswith("SUPPRESS") else _converted(default, keywords.get("type"))
    if action in ("store_true", "store_false"):
        return ast.Constant(action == "store_false")
    if action == "count" or keywords.get("nargs") is not None:
        return ast.Constant(None) if not positional or _constant(keywords.get("nargs")) in _OPTIONAL else None
    required = positional or _constant(keywords.get("required")) is True
    if not required:
        return ast.Constant(None)
    choices = keywords.get("choices")
    # A value must be passed: the first choice is as good as the others.
    return choices.elts[0] if isinstance(choices, (ast.List, ast.Tuple)) and choices.elts else None


def _converted(default: ast.expr, kind: ast.expr | None) -> ast.expr:
    """Convert a default that is a string, as ``argparse`` does."""
    convert = _NUMBERS.get(kind.id) if isinstance(kind, ast.Name) else None
    value = _constant(default)
    if convert is None or not isinstance(value, str):
        return default
    try:
        return ast.Constant(convert(value))
    except ValueError:
        return default


def _constant(expression: ast.expr | None) -> object:
    return expression.value if isinstance(expression, ast.Constant) else None
