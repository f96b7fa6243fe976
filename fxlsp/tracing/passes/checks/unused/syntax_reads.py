"""Attributes that source files read: of ``self`` by class, and of anything else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class _Class:
    """Class statement, whether it was executed or not."""

    name: str
    bases: frozenset[str]
    """The last parts of their names."""
    reads: set[str] = field(default_factory=set)
    """Attributes that its methods read of their first argument."""


class SyntaxReads:
    """Attribute reads of some files."""

    def __init__(self, trees: Iterable[ast.AST]) -> None:
        self._classes: list[_Class] = []
        self._elsewhere: set[str] = set()
        for tree in trees:
            self._collect(tree)

    def may_read(self, classes: frozenset[str], name: str) -> bool:
        """Return whether ``name`` may be read of an instance of one of ``classes``.

        This is decided by names. Classes that share a base with them count as related: their methods may run on such an
        instance.
        """
        if name in self._elsewhere:
            return True
        return any(name in each.reads for each in self._classes if not self._ancestors(each).isdisjoint(classes))

    def _ancestors(self, start: _Class) -> set[str]:
        found: set[str] = set()
        waiting = {start.name}
        while waiting:
            found |= waiting
            bases = {base for each in self._classes if each.name in waiting for base in each.bases}
            waiting = bases - found
        return found

    def _collect(self, tree: ast.AST) -> None:
        stack: list[tuple[ast.AST, _Class | None, str | None]] = [(tree, None, None)]
        while stack:
            node, cls, own = stack.pop()
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
                if cls is not None and not isinstance(node.ctx, ast.Store):
                    cls.reads.add(node.attr)
                continue
            self._elsewhere.update(_names_read(node))
            if isinstance(node, ast.ClassDef):
                inner = _Class(node.name, frozenset(filter(None, map(_last_name, node.bases))))
                self._classes.append(inner)
                stack.extend((child, inner, _first_argument(child)) for child in ast.iter_child_nodes(node))
            else:
                stack.extend((child, cls, own) for child in ast.iter_child_nodes(node))


def _first_argument(statement: ast.AST) -> str | None:
    """Return a method's name for its instance; None for other functions."""
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    arguments = [*statement.args.posonlyargs, *statement.args.args]
    static = any(_last_name(decorator) == "staticmethod" for decorator in statement.decorator_list)
    return arguments[0].arg if arguments and not static else None


def _last_name(expression: ast.expr) -> str | None:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value) | ast.Call(func=value):
            return _last_name(value)
    return None


def _names_read(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Attribute(attr=name)):
            yield name
        case ast.Call(func=ast.Name(id="getattr" | "hasattr") | ast.Attribute(attr="get_submodule")):
            yield from (
                part
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                for part in argument.value.split(".")
            )
        case ast.MatchClass(kwd_attrs=names):
            yield from names
