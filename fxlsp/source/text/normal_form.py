"""A digest that is equal for texts of the same program."""

from __future__ import annotations

import ast

from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module
from fxlsp.wire.frames import text_digest


def normal_digest(text: str) -> str:
    """Return a digest of the syntax tree of a text, without positions and docstrings.

    Two texts have the same digest if and only if their ``ast.dump`` without those is equal. The digest of a text that
    Python cannot parse is equal only to that of the same text.
    """
    try:
        # ``ast.parse`` accepts a byte order mark in a file, but not in a string.
        tree = parsed_module(text.removeprefix("\ufeff"))
    except SYNTAX_ERRORS:
        return "text:" + text_digest(text)
    return "ast:" + text_digest(_flat(tree))


def _flat(tree: ast.Module) -> str:
    """Return the content of ``ast.dump`` without docstrings, without recursion."""
    words: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            words.append(type(item).__name__)
            waiting.extend(_fields(item))
        elif isinstance(item, list):
            words.append(f"[{len(item)}")
            waiting.extend(item)
        else:
            words.append(repr(item))
    return "\n".join(words)


def _fields(node: ast.AST) -> list[object]:
    fields: list[object] = [getattr(node, name, None) for name in node._fields]
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and _has_docstring(node):
        fields[node._fields.index("body")] = node.body[1:]
    return fields


def _has_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = node.body[0] if node.body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
