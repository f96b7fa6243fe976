"""Only a session's own methods change its tables.

The tables are read-only to the type checker and at run time.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

import fxlsp
from fxlsp.engine.state.guesses import Guesses
from fxlsp.engine.state.model_tables import ModelTables
from fxlsp.engine.state.session import Session

OWNERS = (Session, ModelTables)
HOLDERS = {"session", "_session", "models", "_models"}
"""Names of sessions and their models in other modules."""


def private_uses(text: str) -> Iterator[str]:
    """Yield expressions such as ``self._session._documents``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            holder = node.value
            name = holder.attr if isinstance(holder, ast.Attribute) else getattr(holder, "id", "")
            if name in HOLDERS:
                yield ast.unparse(node)


@pytest.mark.parametrize("owner", OWNERS)
def test_what_can_be_read_cannot_be_changed(owner: type) -> None:
    public = {name: each for name, each in vars(owner()).items() if not name.startswith("_")}
    assert all(isinstance(each, (MappingProxyType, ModelTables, Guesses)) for each in public.values()), public
    properties = [each for each in vars(owner).values() if isinstance(each, property)]
    assert all(each.fset is None and each.fdel is None for each in properties)


@pytest.mark.parametrize("owner", OWNERS)
def test_the_type_checker_refuses_assignments_to_tables(owner: type) -> None:
    assigned = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(owner)))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute) and node.target.attr[0] != "_"
    ]
    assert assigned
    assert all(ast.unparse(node.annotation).startswith("Final") for node in assigned)


def test_no_other_module_reaches_behind_the_views() -> None:
    own = {Path(inspect.getfile(owner)) for owner in OWNERS}
    paths = {path for folder in fxlsp.__path__ for path in Path(folder).rglob("*.py")} - own
    found = {str(path): uses for path in paths if (uses := [*private_uses(path.read_text(encoding="utf-8"))])}
    assert found == {}


@pytest.mark.parametrize(
    "text", ["session._documents[path] = 1", "self._session._index = Index({})", "del session.models._states[key]"]
)
def test_reaching_behind_a_view_is_found(text: str) -> None:
    assert len(list(private_uses(text))) == 1
