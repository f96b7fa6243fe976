"""The expressions that the methods of a class assign to attributes of ``self``."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.python.expressions import LONGEST_EXPRESSION, parse_expression
from fxlsp.source.text.syntax import ancestors, captures, field, text_of

_ASSIGNMENTS = """
[(assignment left: (attribute object: (identifier) @owner))
 (augmented_assignment left: (attribute object: (identifier) @owner))]
"""


class Attribute(NamedTuple):
    """One assignment to an attribute of ``self``."""

    value: ast.expr | None
    """None where no expression states the value."""
    byte: int


Attributes = dict[int, dict[str, list[Attribute]]]
"""Assignments by the first byte of the class statement and the name of the attribute."""


def attributes_of(root: Node) -> Attributes:
    """Return the attributes of ``self`` that the methods of each class assign."""
    found: Attributes = {}
    for owner in captures(root, _ASSIGNMENTS).get("owner", []):
        target = owner.parent
        statement = None if target is None else target.parent
        name = None if target is None else field(target, "attribute")
        around = next((each for each in ancestors(owner) if each.type == "class_definition"), None)
        if text_of(owner) != "self" or statement is None or name is None or around is None:
            continue
        value = field(statement, "right") if statement.type == "assignment" else None
        attribute = Attribute(_expression(value), statement.end_byte - 1)
        found.setdefault(around.start_byte, {}).setdefault(text_of(name), []).append(attribute)
    return found


def _expression(value: Node | None) -> ast.expr | None:
    if value is None or value.end_byte - value.start_byte > LONGEST_EXPRESSION:
        return None
    return parse_expression(text_of(value))


def attribute_name(expression: ast.expr) -> str | None:
    """Return ``model`` for ``self.model``; None for another expression."""
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        return expression.attr if expression.value.id == "self" else None
    return None
