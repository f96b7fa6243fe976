"""Tables of problem codes, which belong into the records of the codes.

They are found where a module or a class assigns them: a tuple, list or set of which two or more items are codes or
beginnings of codes, and nothing else; a dict with a code for a key. Conditions inside of functions on codes that are
named there are not tables, nor is what leads to a code (``{"__len__": LENGTH}``): that is a check's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.report import codes, frontend_codes

RECORDS = ("report/codes.py", "report/code_records.py", "report/frontend_codes.py")
_NAMES = {
    name
    for module in (codes, frontend_codes)
    for name, value in vars(module).items()
    if isinstance(value, str) and value in codes.RECORDS
}


def code_tables(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each table of codes that a module assigns outside of functions."""
    for node in _outside_functions(tree):
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
    return (isinstance(node, ast.Name) and node.id in _NAMES) or (
        isinstance(node, ast.Attribute) and node.attr in _NAMES
    )
