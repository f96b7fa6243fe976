"""Who may import whom. The server is slow to start, or user code reaches it, as soon as these rules are broken."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "fxlsp"


@dataclass(frozen=True)
class Layer:
    layers: frozenset[str] = frozenset()
    """Other layers it may import."""
    packages: frozenset[str] = frozenset()
    """Third-party packages it may import."""
    relative_only: bool = False
    """It also runs under another package name, inside the project's interpreter."""


def layer(*layers: str, packages: tuple[str, ...] = (), relative_only: bool = False) -> Layer:
    return Layer(frozenset(layers), frozenset(packages), relative_only)


LAYERS = {
    "report": layer(relative_only=True),
    "wire": layer("report", relative_only=True),
    "worker": layer("report", "wire", packages=("torch",), relative_only=True),
    "source": layer("report", "wire", packages=("tree_sitter", "tree_sitter_python")),
    "engine": layer("report", "wire", "source", packages=("platformdirs", "tomli")),
    "ide": layer("report", "wire", "source", "engine"),
    "graphview": layer("report", "wire", "source", "engine", "ide"),
    "server": layer(
        "report", "wire", "source", "engine", "ide", "graphview", packages=("pygls", "lsprotocol", "cattrs")
    ),
    "cli": layer("report", "wire", "source", "engine", "ide", "graphview", "server"),
}


@dataclass(frozen=True)
class Import:
    module: str
    """Absolute dotted name."""
    line: int
    relative: bool


def imports_of(text: str, package: tuple[str, ...]) -> Iterator[Import]:
    """Every import statement of a module that lies in ``package``, wherever in the module it stands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, relative=False)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            # `from fxlsp import engine` and `from .. import engine` name the layer after the import.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "fxlsp" else [module]
            for name in names:
                yield Import(name, node.lineno, relative=node.level > 0)


def violation(found: Import, name: str, rules: Layer) -> str | None:
    """What is wrong with an import in the layer called ``name``."""
    top, _, rest = found.module.partition(".")
    if top != "fxlsp":
        if top in sys.stdlib_module_names or top in rules.packages:
            return None
        return f"imports the package {top}"
    if rules.relative_only and not found.relative:
        return f"imports {found.module} by its absolute name"
    if not rules.relative_only and found.relative:
        return f"imports {found.module} by a relative name"
    other = rest.partition(".")[0]
    if other in LAYERS and other != name and other not in rules.layers:
        return f"imports the layer {other}"
    if other not in LAYERS and rules.relative_only:
        return f"imports {found.module}, which is not there under another package name"
    return None


def violations(path: Path, text: str) -> list[str]:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = parts[1]
    found = [(each, violation(each, name, LAYERS[name])) for each in imports_of(text, parts[:-1])]
    return [f"{path.relative_to(PACKAGE.parent)}:{each.line} {wrong}" for each, wrong in found if wrong]


def test_every_package_folder_is_a_layer() -> None:
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert folders == set(LAYERS)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer_imports_only_what_its_rule_allows(name: str) -> None:
    paths = sorted((PACKAGE / name).rglob("*.py"))
    assert [line for path in paths for line in violations(path, path.read_text(encoding="utf-8"))] == []


def test_the_package_itself_imports_nothing() -> None:
    assert list(imports_of((PACKAGE / "__init__.py").read_text(encoding="utf-8"), ("fxlsp",))) == []


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("report/x.py", "import torch", "imports the package torch"),
        ("report/x.py", "from fxlsp.report import graph", "by its absolute name"),
        ("report/x.py", "from ..worker import template", "imports the layer worker"),
        ("report/x.py", "from .. import __version__", "which is not there"),
        ("report/x.py", "from ..wire.messages import Bye", "imports the layer wire"),
        ("wire/x.py", "from ..worker.job import Job", "imports the layer worker"),
        ("worker/deep/x.py", "def f():\n    from ...engine.store import Store", "imports the layer engine"),
        ("worker/deep/x.py", "from ... import engine", "imports the layer engine"),
        ("worker/x.py", "import torchvision", "imports the package torchvision"),
        ("source/x.py", "from .positions import Span", "by a relative name"),
        ("ide/x.py", "from lsprotocol import types", "imports the package lsprotocol"),
        ("ide/x.py", "import fxlsp.server.main", "imports the layer server"),
        ("server/x.py", "from fxlsp.worker.plain_pass.tracer import T", "imports the layer worker"),
        ("server/x.py", "from fxlsp import worker", "imports the layer worker"),
    ],
)
def test_a_forbidden_import_is_found(file: str, text: str, wrong: str) -> None:
    (line,) = violations(PACKAGE / file, text)
    assert wrong in line


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("worker/x.py", "from ..report.graph import Node\nfrom .tracer import T\nimport torch.fx"),
        ("worker/deep/x.py", "from ...wire import messages\nfrom ..tracer import T"),
        ("server/x.py", "from fxlsp import __version__\nfrom fxlsp.ide.hover.hover import hover"),
    ],
)
def test_an_allowed_import_passes(file: str, text: str) -> None:
    assert violations(PACKAGE / file, text) == []
