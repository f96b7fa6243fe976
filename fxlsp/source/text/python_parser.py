"""Python's own parser, kept from printing warnings about the user's code."""

from __future__ import annotations

import ast
import threading
import warnings

SYNTAX_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What ``ast`` raises for text that it cannot parse, null characters and bottomless nesting included."""

# ``warnings.catch_warnings`` changes the whole process: two threads inside it can leave its filters behind.
_WARNINGS = threading.Lock()


def parsed_module(text: str) -> ast.Module:
    """The tree of a file.

    Raises:
        SYNTAX_ERRORS: it is not a Python file.
    """
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parsed_expression(text: str) -> ast.expr:
    """The tree of an expression; line breaks in it need no brackets around them.

    Raises:
        SYNTAX_ERRORS: it is not one expression.
    """
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(f"(\n{text}\n)", mode="eval").body
