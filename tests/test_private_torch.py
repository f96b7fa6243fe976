"""Private parts of torch are named in one folder, so that a new version of torch is checked in one place.

What records a user's program runs in that, imports nothing of the worker, and has a file of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fxlsp

PACKAGE = Path(fxlsp.__file__).parent
PLACE = PACKAGE / "worker" / "torch_private"
IN_USERS_PROGRAM = PACKAGE / "recording" / "tensors.py"


def private_uses(text: str) -> Iterator[str]:
    """Yield each private part of torch that a text names: ``torch.nn.modules.conv._ConvNd``."""
    tree = ast.parse(text)
    torch_names = {"torch": "torch", **dict(_imported(tree))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            root, _, rest = ast.unparse(node).partition(".")
            if root in torch_names:
                yield f"{torch_names[root]}.{rest}"
    yield from (name for name in torch_names.values() if any(map(_is_private, name.split("."))))


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that are bound to parts of torch, with what they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "torch":
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            names = [each for each in node.names if each.name.split(".")[0] == "torch"]
            yield from ((each.asname or each.name, each.name) for each in names)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_private_parts_of_torch_are_named_in_one_folder() -> None:
    paths = {path for path in PACKAGE.rglob("*.py") if PLACE not in path.parents} - {IN_USERS_PROGRAM}
    found = {str(path.relative_to(PACKAGE)): uses for path in paths if (uses := sorted(set(_uses_in(path))))}
    assert found == {}


def test_there_they_are() -> None:
    found = {use for path in PLACE.glob("*.py") for use in _uses_in(path)}
    assert {"torch._C", "torch.utils._pytree.tree_map"} <= found


def _uses_in(path: Path) -> Iterator[str]:
    return private_uses(path.read_text(encoding="utf-8"))
