"""Parts of a found recipe that the search made up, since nothing in the user's code says what they are.

Objects with made-up attributes, classes and modules without a name, and functions: people would not write them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.report.recipes import Recipe
from fxlsp.source.python.expressions import parse_expression

ELLIPSIS = "…"
_OBJECTS = ("SimpleNamespace", "Namespace")


def has_invented_parts(recipe: Recipe) -> bool:
    """Return whether parts of a recipe were made up."""
    texts = (recipe.init, recipe.inputs or "")
    return recipe.source == "search" and any(ELLIPSIS in shown(text, recipe) and ELLIPSIS not in text for text in texts)


def shown(text: str, recipe: Recipe) -> str:
    """Return a text of a recipe with ``…`` in the place of each part that was made up.

    Texts that people wrote stay as they are. This is for people; Python could not evaluate it.
    """
    if recipe.source != "search":
        return text
    call = f"_({text})"
    expression = None if "\n" in text else parse_expression(call)
    if expression is None:
        return text
    data = call.encode()
    for start, end in sorted(_invented(expression), reverse=True):
        data = data[:start] + ELLIPSIS.encode() + data[end:]
    return data.decode()[2:-1]


def _invented(node: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield where the outermost invented parts of an expression are, in bytes of its line: a search writes one."""
    if isinstance(node, ast.expr) and _is_invented(node):
        yield node.col_offset, node.end_col_offset or 0
        return
    for child in ast.iter_child_nodes(node):
        yield from _invented(child)


def _is_invented(node: ast.expr) -> bool:
    match node:
        case ast.Lambda():
            return True
        case ast.Call(func=ast.Lambda()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="__import__")), attr=name)):
            return name in _OBJECTS
        case ast.Call(func=ast.Name(id="type"), args=[_, _, _]):
            return True
        case ast.Call(func=ast.Call(func=ast.Name(id="type"), args=[_, _, _])):
            return True
    return False
