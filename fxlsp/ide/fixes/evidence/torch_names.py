"""Names of torch in the import style of a file, and missing imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.fix import Edit, FixContext
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import PythonTree

Spelling = tuple[str, tuple[Edit, ...]]
"""The text to write, and the edits that import what it needs."""


def full_name(tree: PythonTree, expression: ast.expr) -> str | None:
    """Return ``torch.nn.Linear`` for ``nn.Linear``.

    Returns None for an expression that is no dotted name, or does not begin with an imported name.
    """
    name = dotted(expression)
    if name is None:
        return None
    head, dot, rest = name.partition(".")
    full = _bindings(tree).get(head)
    if full is not None:
        return full + dot + rest
    return f"torch.nn.{name}" if "torch.nn" in _stars(tree) and not dot and name[:1].isupper() else None


def spelling(context: FixContext, wanted: str, like: ast.expr | None = None) -> Spelling:
    """Return how to write a name of torch in a file.

    Args:
        wanted: full dotted name.
        like: a name of the same module as the file writes it, the example to follow.
    """
    tree = context.tree
    module, _, name = wanted.rpartition(".")
    bound = {full: local for local, full in _bindings(tree).items()}
    if wanted in bound:
        return bound[wanted], ()
    if module in _stars(tree):
        return name, ()
    if isinstance(like, ast.Attribute) and full_name(tree, like.value) == module:
        return f"{tree.text(like.value)}.{name}", ()
    statement = _from_import(tree, module)
    if isinstance(like, ast.Name) and statement is not None:
        return name, (_with_name(context, statement, name),)
    for prefix in _prefixes(module):
        if prefix in bound and _is_loaded(tree, module, bound[prefix]):
            return bound[prefix] + wanted[len(prefix) :], ()
    if statement is not None and module != "torch":
        return name, (_with_name(context, statement, name),)
    return wanted, (_new_import(context, module),)


def _is_loaded(tree: PythonTree, module: str, local: str) -> bool:
    """Return whether a module can be reached through a local name.

    ``import torch`` also imports ``torch.nn`` and ``torch.compiler``, but not ``torch.fx``.
    """
    if local != "torch" or module in ("torch", "torch.nn", "torch.compiler"):
        return True
    return any(alias.name == module for each in _imports(tree, ast.Import) for alias in each.names)


def _prefixes(module: str) -> Iterator[str]:
    """Yield ``torch.nn`` and ``torch`` for ``torch.nn``."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def _imports(tree: PythonTree, kind: type[ast.Import] | type[ast.ImportFrom]) -> Iterator[ast.Import | ast.ImportFrom]:
    return (statement for statement in tree.module.body if isinstance(statement, kind))


def _bindings(tree: PythonTree) -> dict[str, str]:
    """Return the full names of the names bound by import statements at top level."""
    found: dict[str, str] = {}
    for statement in _imports(tree, ast.Import):
        for alias in statement.names:
            head = alias.name.partition(".")[0]
            found[alias.asname or head] = alias.name if alias.asname else head
    for statement in _imports(tree, ast.ImportFrom):
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            found |= {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
    return found


def _stars(tree: PythonTree) -> frozenset[str]:
    return frozenset(
        str(statement.module)
        for statement in _imports(tree, ast.ImportFrom)
        if isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names)
    )


def _from_import(tree: PythonTree, module: str) -> ast.ImportFrom | None:
    """Return a statement that imports names from a module."""
    for statement in tree.module.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == module and not statement.level:
            return statement
    return None


def _with_name(context: FixContext, statement: ast.ImportFrom, name: str) -> Edit:
    """Return the edit that adds a name to an import statement, in sorted order."""
    tree = context.tree
    after = next((alias for alias in statement.names if alias.name > name), None)
    neighbour = after or statement.names[-1]
    line = tree.lines.line_text(neighbour.lineno)
    indentation = line[: len(line) - len(line.lstrip())]
    starts_line = neighbour.lineno > statement.lineno and len(indentation.encode()) == neighbour.col_offset
    separator = f",{tree.newline}{indentation}" if starts_line else ", "
    if after is not None:
        return context.edit(tree.start(after), tree.start(after), name + separator)
    return context.edit(tree.end(neighbour), tree.end(neighbour), separator + name)


def _new_import(context: FixContext, module: str) -> Edit:
    """Return the edit that adds ``import module``.

    It goes after ``import torch``, else before the first import from torch, else after all imports.
    """
    tree = context.tree
    plain = [each for each in _imports(tree, ast.Import) if any(alias.name == "torch" for alias in each.names)]
    if plain:
        return line_after(context, plain[-1], f"import {module}")
    for statement in tree.module.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "torch":
            offset = tree.lines.offset(statement.lineno, 1)
            return context.edit(offset, offset, f"import {module}{tree.newline}")
    return line_after_imports(context, f"import {module}")


def line_after_imports(context: FixContext, line: str) -> Edit:
    """Return the edit that adds a line after the imports, or after the docstring."""
    head: ast.stmt | None = None
    for statement in context.tree.module.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        is_docstring = head is None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_docstring or isinstance(statement, ast.Import | ast.ImportFrom):
            head = statement
    return context.edit(0, 0, line + context.tree.newline) if head is None else line_after(context, head, line)


def line_after(context: FixContext, statement: ast.stmt, line: str) -> Edit:
    """Return the edit that adds a line after a statement and its trailing comment."""
    tree = context.tree
    last = statement.end_lineno or statement.lineno
    offset = tree.lines.offset(last, len(tree.lines.line_text(last)) + 1)
    return context.edit(offset, offset, tree.newline + line)
