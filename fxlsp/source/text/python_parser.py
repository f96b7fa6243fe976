"""Python's own parser, without its warnings about the user's code."""

from __future__ import annotations

import ast
import codeop
import threading
import warnings

SYNTAX_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The exceptions of ``ast`` for text that it cannot parse, null characters and too deep nesting included."""

# ``warnings.catch_warnings`` changes the whole process: two threads inside it at once can leave its filters set.
_WARNINGS = threading.Lock()


def parsed_module(text: str) -> ast.Module:
    """Parse the text of a file.

    Raises:
        SYNTAX_ERRORS: it is not valid Python.
    """
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parsed_expression(text: str) -> ast.expr:
    """Parse one expression; line breaks in it need no brackets around them.

    Raises:
        SYNTAX_ERRORS: it is not one expression.
    """
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(f"(\n{text}\n)", mode="eval").body


def is_unfinished(text: str) -> bool:
    """Return whether a text is no Python yet, and would be with more after it.

    An open bracket or string, a joined line or a block without a statement is at its end. A text with a mistake is not
    unfinished.
    """
    return _is_complete(text) is False


def is_beyond_repair(text: str) -> bool:
    """Return whether a text is no Python, whatever may follow."""
    return _is_complete(text) is None


def _is_complete(text: str) -> bool | None:
    """Return whether a text is Python without more after it; None if it has a mistake."""
    if text.rstrip().endswith("\\"):
        return False
    with _WARNINGS:
        try:
            return codeop.compile_command(text, symbol="exec") is not None
        except (*SYNTAX_ERRORS, OverflowError):
            return None
