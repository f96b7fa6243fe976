"""A digest that tells whether two texts are the same program."""

from __future__ import annotations

import ast

from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module
from fxlsp.wire.frames import text_digest


def normal_digest(text: str) -> str:
    """Equal for two texts whose ``ast.dump``, without positions and docstrings, is equal, and for no others.

    A text that Python cannot parse is equal only to itself.
    """
    try:
        # Python reads a file's byte order mark, but not a string's.
        tree = parsed_module(text.removeprefix("\ufeff"))
    except SYNTAX_ERRORS:
        return "text:" + text_digest(text)
    return "ast:" + text_digest(_flat(tree))


def _flat(tree: ast.Module) -> str:
    """What ``ast.dump`` would write without docstrings, in a notation that needs no recursion."""
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
