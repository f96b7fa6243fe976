"""The module classes of a file, and which of them have all names that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.corpora.bindings import Bindings


@dataclass(frozen=True)
class BareClass:
    """A class with a ``forward`` of its own."""

    file: str
    name: str
    listed: bool
    """Whether the file's TESTCASES name it."""


def bare_classes(path: str) -> list[BareClass]:
    """Return the top-level classes with a ``forward`` of one file.

    The list is empty if it does not parse. Of several of one name the last counts.
    """
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError):
        return []
    listed = {node.elts[0].id for node in _entries(tree) if isinstance(node.elts[0], ast.Name)}
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef) and each.bases}
    return [BareClass(path, name, name in listed) for name, each in classes.items() if _has_forward(each)]


def _has_forward(statement: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "forward" for each in statement.body)


def unresolved(each: BareClass) -> str | None:
    """Return a name that a class takes from its file and that does not exist.

    None if all exist.
    """
    return _bindings(each.file).unresolved(each.name)


@lru_cache(maxsize=4)
def _bindings(path: str) -> Bindings:
    with open(path, encoding="utf-8") as file:
        return Bindings(ast.parse(file.read()))


def _entries(tree: ast.Module) -> Iterator[ast.Tuple]:
    """Yield the entries of TESTCASES."""
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name("TESTCASES")], ast.List(entries)):
                yield from (entry for entry in entries if isinstance(entry, ast.Tuple) and entry.elts)
