"""Whether recorded arguments still fit the functions of a class as its present text defines them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fxlsp.source.text.documents import Document

Arguments = Mapping[str, Any]


def misfit(document: Document, name: str, method: str, arguments: Arguments) -> str | None:
    """Return why arguments do not fit a method of a class; None if they do, or if the file does not define it.

    Args:
        name: qualified name of the class.
        method: ``__init__`` or ``forward``.

    Example:
        ``__init__ has no parameter width``.
    """
    found = _methods(document.text).get((name, method))
    if found is None or found.decorator_list:
        # It is inherited, or the decorator decides what it takes.
        return None
    given, named = len(arguments["args"]), set(arguments["kwargs"])
    parameters = found.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)][1:]
    keywords = {*(each.arg for each in parameters.args), *(each.arg for each in parameters.kwonlyargs)}
    if given > len(positional) and parameters.vararg is None:
        return f"{method} takes {len(positional)} arguments and not {given}"
    unknown = sorted(named - keywords)
    if unknown and parameters.kwarg is None:
        return f"{method} has no parameter {unknown[0]}"
    with_default = set(positional[len(positional) - len(parameters.defaults) :] if parameters.defaults else ())
    needed = [each for each in positional[given:] if each not in with_default]
    pairs = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    needed += [each.arg for each, default in pairs if default is None]
    missing = [each for each in needed if each not in named]
    return f"{method} needs {missing[0]}" if missing else None


@lru_cache(maxsize=8)
def _methods(text: str) -> dict[tuple[str, str], ast.FunctionDef]:
    """Return the constructors and forwards of the classes of a text; of several with one name the last."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        (name, statement.name): statement
        for name, body in _classes(tree.body, "")
        for statement in body
        if isinstance(statement, ast.FunctionDef) and statement.name in ("__init__", "forward")
    }


def _classes(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield prefix + statement.name, statement.body
            yield from _classes(statement.body, f"{prefix}{statement.name}.")
        for part in ("body", "orelse", "finalbody"):
            if isinstance(statement, (ast.If, ast.Try, ast.With)):
                yield from _classes(getattr(statement, part, []), prefix)
