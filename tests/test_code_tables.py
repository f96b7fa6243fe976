"""What is known of a problem code is in its record alone, so that a new code is one record, a check and a page.

Tables of codes are found where a module or a class assigns them: a tuple, list or set of which two or more items are
codes or beginnings of codes, and nothing else; a dict with a code for a key. Conditions inside of functions on codes
that are named there are not tables, nor is what leads to a code (``{"__len__": LENGTH}``): that is a check's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fxlsp
from fxlsp.report import codes

PACKAGE = Path(fxlsp.__file__).parent
RECORDS = {PACKAGE / "report" / name for name in ("codes.py", "code_records.py")}
NAMES = {name for name, value in vars(codes).items() if isinstance(value, str) and value in codes.RECORDS}
FIXES = ("ide/fixes/registry.py", "FIXERS")
"""The registry of quick fixes has for its keys those codes that have one. A new code needs none."""


def code_tables(text: str) -> Iterator[str]:
    """Yield the name of each table of codes that a text assigns outside of functions."""
    for node in _outside_functions(ast.parse(text)):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            yield from {name for each in ast.walk(node.value) if _is_table(each)}


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
            yield from _outside_functions(child)


def _is_table(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return any(key is not None and _is_code(key) for key in node.keys)
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return False
    items = [each for each in node.elts if not isinstance(each, ast.Starred)]
    return len(items) > 1 and all(map(_is_code, items))


def _is_code(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and re.fullmatch(r"FX\d{1,3}", node.value) is not None
    return (isinstance(node, ast.Name) and node.id in NAMES) or (isinstance(node, ast.Attribute) and node.attr in NAMES)


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(set(PACKAGE.rglob("*.py")) - RECORDS):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_only_records_and_quick_fixes_are_tables_of_codes() -> None:
    assert [(path, name) for path, text in _sources() for name in code_tables(text)] == [FIXES]


def test_a_code_is_named_by_its_constant() -> None:
    """Else what depends on a code is not found by its name, nor is a table of it."""
    named = [
        f"{path}:{node.lineno} {node.value}"
        for path, text in _sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in codes.RECORDS
    ]
    assert named == []


@pytest.mark.parametrize(
    "text",
    [
        "_RAISES = (OPERATION_FAILS, codes.CODE_FAILS)",
        "_FAMILIES: tuple[str, ...] = ('FX1', 'FX402')",
        "_EXPLAINS = OTHERS.union({RANDOM, CONSTANT})",
        "class Check:\n    CODES = [RANDOM, *OTHERS, CONSTANT]",
        "if TYPE_CHECKING:\n    ADVICE = {RANDOM: 'seed it'}",
    ],
)
def test_a_table_is_found(text: str) -> None:
    assert len(list(code_tables(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "_RAISES = codes_with(Trait.RAISES)",
        "_REFUSED = {'__len__': LENGTH, '__iter__': ITERATION}",
        "_PATTERNS = ((re.compile('x'), LENGTH), (re.compile('y'), ITERATION))",
        "def f(code):\n    return code in (LENGTH, ITERATION)",
        "_ONE = (LENGTH,)",
    ],
)
def test_what_is_no_table_is_not_reported(text: str) -> None:
    assert list(code_tables(text)) == []
