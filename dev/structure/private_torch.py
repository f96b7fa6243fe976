"""Private parts of torch that a text names."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def private_uses(tree: ast.Module) -> Iterator[str]:
    """Yield each private part of torch that a module names: ``torch.nn.modules.conv._ConvNd``."""
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
