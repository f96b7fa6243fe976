"""The class around a piece of code, with its bases and subclasses in the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.source.models.class_hierarchy import external_kind
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import Function, PythonTree
from fxlsp.source.text.class_kind import ClassKind

_MODULE_ATTRIBUTES = frozenset(
    {
        *("add_module", "apply", "bfloat16", "buffers", "call_super_init", "children", "compile", "cpu", "cuda"),
        *("double", "dump_patches", "eval", "extra_repr", "float", "forward", "get_buffer", "get_extra_state"),
        *("get_parameter", "get_submodule", "half", "ipu", "load_state_dict", "modules", "mtia", "named_buffers"),
        *("named_children", "named_modules", "named_parameters", "parameters", "register_buffer", "register_module"),
        *("register_parameter", "requires_grad_", "set_extra_state", "set_submodule", "share_memory", "state_dict"),
        *("to", "to_empty", "train", "training", "type", "xpu", "zero_grad", "T_destination"),
    }
)
"""Names of attributes that every module already has."""


@dataclass(frozen=True)
class SelfAssignment:
    """Assignment ``self.name = value``."""

    statement: ast.Assign | ast.AnnAssign
    target: ast.Attribute
    value: ast.expr
    method: Function


class EnclosingClass:
    """A class with its bases and subclasses in this file, which share attributes."""

    def __init__(self, tree: PythonTree, statement: ast.ClassDef) -> None:
        self.tree = tree
        self.statement = statement
        known = {each.name: each for each in tree.module.body if isinstance(each, ast.ClassDef)}
        own_line = _with_bases(statement, known)
        subclasses = [
            each for each in known.values() if each is not statement and statement in _with_bases(each, known)
        ]
        self.family = [*own_line, *subclasses]
        foreign = [base for each in own_line for base in each.bases if dotted(base) not in known]
        self.bases_known = all(external_kind(full_name(tree, base)) is ClassKind.MODULE for base in foreign)
        """Whether every base is in this file or a module class of a library."""

    @property
    def initializer(self) -> Function | None:
        """``__init__`` of the class itself."""
        return next((each for each in self.methods([self.statement]) if each.name == "__init__"), None)

    def methods(self, classes: list[ast.ClassDef] | None = None) -> Iterator[Function]:
        """Yield the methods that have a ``self``.

        Args:
            classes: the classes whose methods to yield; None for the whole family.
        """
        for each in self.family if classes is None else classes:
            for statement in each.body:
                if isinstance(statement, Function) and self_of(statement) is not None:
                    yield statement

    def assignments(self, name: str) -> list[SelfAssignment]:
        """Return every ``self.name = value`` in the family."""
        return [
            SelfAssignment(node, target, node.value, method)
            for method in self.methods()
            for node in ast.walk(method)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Attribute) and attribute_of_self(target, method) == name
        ]

    def only_assignment(self, name: str) -> SelfAssignment | None:
        """Return the one statement that assigns ``self.name``.

        Returns None if there may be several, or a statement of another kind.
        """
        assignments = self.assignments(name)
        stores = [node for node in self.uses(name) if not isinstance(node.ctx, ast.Load)]
        if len(assignments) != 1 or len(stores) != 1 or name in self._body_names():
            return None
        (found,) = assignments
        if isinstance(found.statement, ast.Assign) and len(found.statement.targets) > 1:
            return None
        owner = self.owner_of(found)
        # A base may have other subclasses, which this class does not see.
        return found if owner.statement is self.statement or owner.only_assignment(name) is not None else None

    def owner_of(self, found: SelfAssignment) -> EnclosingClass:
        """Return the class whose method contains an assignment."""
        owner = self.tree.class_of(found.method)
        return self if owner is None or owner is self.statement else EnclosingClass(self.tree, owner)

    def uses(self, name: str) -> list[ast.Attribute]:
        """Return every ``self.name`` in the methods."""
        return [
            node
            for method in self.methods()
            for node in ast.walk(method)
            if attribute_of_self(node, method) == name and isinstance(node, ast.Attribute)
        ]

    def names(self) -> set[str]:
        """Return the attributes that the methods assign, and what the class bodies bind."""
        stored = {
            name
            for method in self.methods()
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            if (name := attribute_of_self(node, method)) is not None
        }
        return stored | self._body_names()

    def is_free(self, name: str) -> bool:
        """Return whether no attribute of the class has this name."""
        return name not in _MODULE_ATTRIBUTES and name not in self._body_names() and not self.uses(name)

    def _body_names(self) -> set[str]:
        """Return the names that the class bodies themselves bind."""
        found: set[str] = set()
        for each in self.family:
            for statement in each.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    found.add(statement.name)
                elif not (isinstance(statement, ast.AnnAssign) and statement.value is None):
                    found |= {
                        node.id
                        for node in ast.walk(statement)
                        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
                    }
        return found


def _with_bases(statement: ast.ClassDef, known: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """Return a class and its bases among the known classes, nearest first."""
    line: list[ast.ClassDef] = []
    waiting = [statement]
    while waiting:
        current = waiting.pop(0)
        if current not in line:
            line.append(current)
            waiting += [own for base in current.bases if (own := known.get(dotted(base) or "")) is not None]
    return line


def enclosing_class(tree: PythonTree, node: ast.AST) -> tuple[EnclosingClass, Function] | None:
    """Return the class and its method that contain a node."""
    for each in tree.ancestors(node):
        if isinstance(each, Function):
            owner = tree.class_of(each)
            if owner is not None and self_of(each) is not None:
                return EnclosingClass(tree, owner), each
    return None


def self_of(method: Function) -> str | None:
    """Return a method's name for its instance; None for a static or class method."""
    if any(dotted(each) in ("staticmethod", "classmethod") for each in method.decorator_list):
        return None
    parameters = [*method.args.posonlyargs, *method.args.args]
    return parameters[0].arg if parameters else None


def attribute_of_self(node: ast.AST, method: Function) -> str | None:
    """Return ``name`` for ``self.name``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self_of(method):
        return node.attr
    return None


def initialises_module(method: Function, before: int | None = None) -> bool:
    """Return whether a method calls ``__init__`` of ``nn.Module`` or another base.

    Args:
        before: only calls in a line before this one count; None for any line.
    """
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
        and (before is None or node.lineno < before)
        for node in ast.walk(method)
    )
