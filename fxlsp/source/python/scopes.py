"""The scopes of a file and the bindings of their names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from tree_sitter import Node

from fxlsp.source.python.argparse_options import Option, options_of
from fxlsp.source.python.bindings import Binding, BindingKind, bindings_of
from fxlsp.source.python.self_attributes import Attribute, Attributes, attributes_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.syntax import captures, text_of

_SCOPES = """
(function_definition) @function
(class_definition) @class
(module (if_statement) @branch)
"""
_CALLS = "(call function: (identifier) @name)"
_LOOPS = "[(for_statement) (while_statement)] @loop"
_SAME_OBJECT = (BindingKind.METHOD_CALLED, BindingKind.ATTRIBUTE_SET, BindingKind.CONFIGURED)
_NOT_IN_EFFECT = (BindingKind.ATTRIBUTE_SET, BindingKind.CONFIGURED)
_IN_PLACE = (BindingKind.CHANGED, BindingKind.RESHAPED)
_NOT_LASTING = (BindingKind.EXPRESSION_LOCAL, *_SAME_OBJECT)
_MAIN_GUARD = re.compile(r"""\(?\s*(__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__)\s*\)?""")


class ScopeKind(Enum):
    """Kind of code that forms a scope."""

    MODULE = auto()
    MAIN = auto()
    """The block under ``if __name__ == "__main__"``: Python runs it in the scope of the module, a trace never does."""
    FUNCTION = auto()
    CLASS = auto()


@dataclass(eq=False)
class Scope:
    """Code with a namespace of its own."""

    kind: ScopeKind
    definition: Node
    """The ``def``, ``class`` or ``if`` statement, or the module."""
    extent: tuple[int, int]
    """Bytes of its body."""
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    """By name, in text order."""

    def binds(self, name: str, byte: int) -> bool:
        """Return whether ``name``, read at ``byte``, is a name of this scope."""
        return any(_binds(each, byte) for each in self.bindings.get(name, []))

    def binding(self, name: str, byte: int) -> Binding | None:
        """Return the binding in effect at ``byte``; None where that is not certain."""
        return _in_effect(self.bindings.get(name, []), byte)

    def configured(self, binding: Binding, byte: int) -> list[Binding]:
        """Return the method calls between ``binding`` and ``byte`` that certainly run, the last one first."""
        others = [each for each in self.bindings[binding.name] if each.kind is BindingKind.CONFIGURED]
        return [each for each in reversed(others) if each.start > binding.start and each.reaches(byte)]

    def binding_of_shape(self, name: str, byte: int) -> Binding | None:
        """Return the binding in effect at ``byte``, without what keeps the shape of a tensor.

        None where that is not certain.
        """
        bindings = self.bindings.get(name, [])
        if any(each.attribute == "data" and each.start < byte for each in bindings):
            return None
        return _in_effect([each for each in bindings if each.kind is not BindingKind.CHANGED], byte)

    def rebinds(self, name: str, byte: int) -> bool:
        """Return whether ``name`` is bound both before and after ``byte``."""
        starts = [each.start for each in self.bindings.get(name, []) if each.kind not in _NOT_LASTING]
        return any(start < byte for start in starts) and any(start > byte for start in starts)

    @property
    def runs_in_order(self) -> bool:
        """Whether its code runs when the module does, not when a function is called."""
        return self.kind is not ScopeKind.FUNCTION and (self.parent is None or self.parent.runs_in_order)

    def sets_attribute(self, binding: Binding, byte: int) -> bool:
        """Return whether an attribute is set between ``binding`` and ``byte``."""
        others = self.bindings.get(binding.name, [])
        return any(each.kind is BindingKind.ATTRIBUTE_SET and binding.start < each.start < byte for each in others)


def _binds(binding: Binding, byte: int) -> bool:
    if binding.kind is BindingKind.EXPRESSION_LOCAL:
        return binding.reaches(byte)
    # What changes an object leaves its name in the scope that it is of; before, the name is looked up there.
    return binding.start < byte if binding.kind in _IN_PLACE else binding.kind not in _SAME_OBJECT


def _in_effect(bindings: Sequence[Binding], byte: int) -> Binding | None:
    lasting = [each for each in bindings if each.kind not in _NOT_LASTING]
    reaching = [each for each in bindings if each.kind not in _NOT_IN_EFFECT and each.reaches(byte)]
    if not reaching:
        return lasting[0] if len(lasting) == 1 and lasting[0].kind not in _IN_PLACE else None
    last = reaching[-1]
    is_superseded = any(last.start < each.start < byte for each in lasting)
    return None if is_superseded else last


class Scopes:
    """The scopes of one file."""

    def __init__(self, root: Node) -> None:
        self.module = Scope(ScopeKind.MODULE, root, (0, root.end_byte + 1), None)
        self.imports_everything = "star" in captures(root, "(wildcard_import) @star")
        """Whether there is a ``from ... import *``, which may bind any name."""
        self._scopes = [self.module]
        self._starts = [0]
        self.functions: dict[str, list[Scope]] = {}
        """The scopes of all functions, by name."""
        self._root = root
        for kind, definition, body in _bodies(root):
            parent = self.at(body.start_byte)
            scope = Scope(kind, definition, body.byte_range, parent)
            self._scopes.append(scope)
            self._starts.append(body.start_byte)
            name = definition.child_by_field_name("name") if kind is ScopeKind.FUNCTION else None
            if name is not None:
                self.functions.setdefault(text_of(name), []).append(scope)
        self.imported_inside: set[str] = set()
        """Names that are imported in other scopes than that of the module."""
        for binding in bindings_of(root):
            scope = self.at(max(binding.start, binding.block[0]))
            scope.bindings.setdefault(binding.name, []).append(binding)
            if binding.kind is BindingKind.IMPORTED and scope is not self.module:
                self.imported_inside.add(binding.name)
        loops = captures(root, _LOOPS).get("loop", [])
        self._loops = [loop.byte_range for loop in loops if self.at(loop.start_byte) is self.module]

    @cached_property
    def calls(self) -> dict[str, list[Node]]:
        """The calls of plain names, by name, in text order."""
        found: dict[str, list[Node]] = {}
        for name in captures(self._root, _CALLS).get("name", []):
            if name.parent is not None:
                found.setdefault(text_of(name), []).append(name.parent)
        return found

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options that the file declares with ``argparse``, by name."""
        return options_of(self._root)

    def attribute(self, name: str, scope: Scope) -> Attribute | None:
        """Return the only assignment to ``self.name`` in the class around ``scope``.

        None where there are none or several.
        """
        around: Scope | None = scope
        while around is not None and around.kind is not ScopeKind.CLASS:
            around = around.parent
        known = {} if around is None else self._attributes.get(around.definition.start_byte, {})
        found = known.get(name, [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def _attributes(self) -> Attributes:
        return attributes_of(self._root)

    def needs_loop(self, name: str, byte: int) -> bool:
        """Return whether a loop at the top level sets the value of ``name`` at ``byte``.

        Such a loop may be one that trains, which a trace must not run.
        """
        bindings = [each for each in self.module.bindings.get(name, []) if each.kind not in _NOT_LASTING]
        around = [loop for loop in self._loops if loop[0] <= byte < loop[1]]
        if any(_within(each, around) for each in bindings):
            return True
        return bool(bindings) and all(_within(each, self._loops) for each in bindings)

    def at(self, byte: int) -> Scope:
        """Return the innermost scope around a byte."""
        scope = self._scopes[bisect_right(self._starts, byte) - 1]
        while scope.parent is not None and byte >= scope.extent[1]:
            scope = scope.parent
        return scope


def _bodies(root: Node) -> list[tuple[ScopeKind, Node, Node]]:
    """Return kind, statement and body of every scope in a module, in text order."""
    found = captures(root, _SCOPES)
    mains = [node for node in found.get("branch", []) if _is_main_guard(node)]
    bodies = [
        *((ScopeKind.FUNCTION, node, node.child_by_field_name("body")) for node in found.get("function", [])),
        *((ScopeKind.CLASS, node, node.child_by_field_name("body")) for node in found.get("class", [])),
        *((ScopeKind.MAIN, node, node.child_by_field_name("consequence")) for node in mains),
    ]
    known = [(kind, node, body) for kind, node, body in bodies if body is not None]
    return sorted(known, key=lambda each: each[2].start_byte)


def _within(binding: Binding, extents: list[tuple[int, int]]) -> bool:
    return any(start <= binding.start < end for start, end in extents)


def _is_main_guard(branch: Node) -> bool:
    condition = branch.child_by_field_name("condition")
    return condition is not None and _MAIN_GUARD.fullmatch(text_of(condition)) is not None


def scopes_of(document: Document) -> Scopes:
    """Return the scopes of a document, computed once."""
    return document.derive(_find_scopes)


def _find_scopes(document: Document) -> Scopes:
    return Scopes(document.tree.root_node)
