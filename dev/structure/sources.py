"""Modules of the package as text and as syntax trees, each read once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "fxlsp"


@dataclass(frozen=True)
class SourceFile:
    """A module of the package."""

    path: str
    """Relative to the package, with slashes."""
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def imports(self) -> frozenset[str]:
        """Absolute names of the modules of the package that it imports, and of what it imports from packages."""
        return frozenset(_imports(self.tree, ("fxlsp", *self.path.split("/")[:-1])))


def read_sources() -> list[SourceFile]:
    """Return all modules of the package, ordered by path."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [SourceFile(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def _imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
