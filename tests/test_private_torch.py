"""Private parts of torch are named in one folder, so that a new version of torch is checked in one place.

What records a user's program runs in that, imports nothing of the worker, and has a file of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fxlsp
from dev.structure.private_torch import private_uses

PACKAGE = Path(fxlsp.__file__).parent
PLACE = PACKAGE / "tracing" / "isolation" / "torch_private"
IN_USERS_PROGRAM = PACKAGE / "recording" / "tensors.py"


def test_private_parts_of_torch_are_named_in_one_folder() -> None:
    paths = {path for path in PACKAGE.rglob("*.py") if PLACE not in path.parents} - {IN_USERS_PROGRAM}
    found = {str(path.relative_to(PACKAGE)): uses for path in paths if (uses := sorted(set(_uses_in(path))))}
    assert found == {}


def test_there_they_are() -> None:
    found = {use for path in PLACE.glob("*.py") for use in _uses_in(path)}
    assert {"torch._C", "torch.utils._pytree.tree_map"} <= found


def _uses_in(path: Path) -> Iterator[str]:
    return private_uses(ast.parse(path.read_text(encoding="utf-8")))
