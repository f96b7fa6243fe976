"""Names that a class only asks for their truth: flags, which are off unless they are turned on."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)


def only_tested(trees: Iterable[ast.AST]) -> set[str]:
    """Return the names of arguments, attributes and keys that are used as conditions and as nothing else.

    A name that is stored under another one is used as that one is.
    """
    uses = _Uses()
    for tree in trees:
        uses.read(tree, None)
    return {name for name in uses.tested | set(uses.stored) if uses.is_flag(name)}


class _Uses:
    """Uses of names in the methods of a class."""

    def __init__(self) -> None:
        self.tested: set[str] = set()
        self.used: set[str] = set()
        """Names with another use than as a condition."""
        self.stored: dict[str, set[str]] = defaultdict(set)
        """Names under which a name is stored."""

    def is_flag(self, name: str) -> bool:
        """Return whether a name, and those under which it is stored, are conditions only."""
        names, pending = {name}, [name]
        while pending:
            new = self.stored[pending.pop()] - names
            names |= new
            pending += new
        return not names.isdisjoint(self.tested) and names.isdisjoint(self.used)

    def read(self, node: ast.AST, test: ast.AST | None) -> None:
        """Note the uses below a node; ``test`` is the node below it of which only the truth matters."""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _name(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self.stored[_name(node.value)] |= {_name(target) for target in targets if _name(target)}
            for part in [*targets, *ast.iter_child_nodes(node.value)]:
                self.read(part, None)
            return
        for child in ast.iter_child_nodes(node):
            is_test = child is _test_of(node) or (test is node and isinstance(node, ast.BoolOp))
            name = _name(child)
            if name and isinstance(getattr(child, "ctx", None), ast.Load):
                (self.tested if is_test else self.used).add(name)
            self.read(child, child if is_test else None)


def _test_of(node: ast.AST) -> ast.AST | None:
    if isinstance(node, _TESTS):
        return node.test
    if isinstance(node, ast.comprehension):
        return node.ifs[0] if node.ifs else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and node.args:
        return node.args[0]
    return None


def _name(node: ast.AST) -> str:
    """Return ``flag`` for ``flag``, ``self.flag`` and ``config["flag"]``; else ""."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name
    return ""
