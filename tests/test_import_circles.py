"""No module imports one that needs it in turn: modules in a circle can only be read, tested and changed together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "fxlsp"
LAYERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


class Source(NamedTuple):
    """A module that lies in ``package``; a package lies in itself."""

    package: str
    text: str


def sources_below(folder: Path) -> dict[str, Source]:
    """The modules and packages below a folder by absolute dotted name."""
    sources = {}
    for path in folder.rglob("*.py"):
        package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        name = package if path.stem == "__init__" else f"{package}.{path.stem}"
        sources[name] = Source(package, path.read_text(encoding="utf-8"))
    return sources


def imported_by(source: Source, *, types: bool) -> Iterator[str]:
    """Absolute names that a module imports, inside of functions too; without ``types`` only those it imports when run.

    ``from a import b`` yields ``a.b`` as well as ``a``.
    """
    package = source.package.split(".")
    for node in _nodes_of(ast.parse(source.text), types=types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))


def _nodes_of(tree: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    yield tree
    children = ast.iter_child_nodes(tree)
    if not types and isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        children = iter(tree.orelse)
    for child in children:
        yield from _nodes_of(child, types=types)


def circle_among(sources: Mapping[str, Source], *, types: bool) -> list[str]:
    """The modules of a circle in their order, the first one repeated at the end; none if there is no circle."""
    graph = {name: {*imported_by(source, types=types)} & sources.keys() - {name} for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_no_import_circles() -> None:
    """An import inside of a function counts too: it hides a circle and does not open it."""
    assert circle_among(sources_below(PACKAGE), types=False) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_no_circles_of_types(layer: str) -> None:
    """Modules that need each other's types are one module in several files."""
    assert circle_among(sources_below(PACKAGE / layer), types=True) == []


def test_a_circle_is_found() -> None:
    texts = {
        "a": "def f():\n    from . import b",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .c import C",
        "c": "from p.a import f",
        "d": "import p.a\nfrom .c import C",
    }
    sources = {f"p.{name}": Source("p", text) for name, text in texts.items()}
    assert circle_among(sources, types=False) == []
    assert set(circle_among(sources, types=True)) == {"p.a", "p.b", "p.c"}
