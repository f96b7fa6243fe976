"""Which classes of a file a class makes its parts from, or a function what it returns."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.models.class_hierarchy import defined_class
from fxlsp.source.python.class_statements import ClassStatement
from fxlsp.source.text.syntax import captures, dotted_name, field

_NAME = "[(identifier) (attribute)]"
_USES = f"""
(call function: {_NAME} @use)
(argument_list {_NAME} @use)
(keyword_argument value: {_NAME} @use)
(default_parameter value: {_NAME} @use)
(typed_default_parameter value: {_NAME} @use)
(assignment right: {_NAME} @use)
(pair value: {_NAME} @use)
(list {_NAME} @use)
(tuple {_NAME} @use)
"""
"""Where a class is called, or handed to what will call it."""


class ClassUses(NamedTuple):
    """The dotted names that a file calls, or hands to what will call them."""

    names: tuple[tuple[int, str], ...]
    """Each after the byte at which it stands, in the order of the text."""

    def classes_used_by(self, statement: ClassStatement, classes: frozenset[str]) -> frozenset[str]:
        """Those of the ``classes`` (qualified names) that the body of a class uses, itself left out."""
        superclasses = field(statement.node, "superclasses")
        start = statement.node.start_byte if superclasses is None else superclasses.end_byte
        return self._classes_between(start, statement.node.end_byte, statement.qualname, classes)

    def classes_used_in(self, function: Node, name: str, classes: frozenset[str]) -> frozenset[str]:
        """Those of the ``classes`` (qualified names) that a top-level function uses."""
        return self._classes_between(function.start_byte, function.end_byte, name, classes)

    def _classes_between(self, start: int, end: int, user: str, classes: frozenset[str]) -> frozenset[str]:
        first, last = (bisect_left(self.names, (byte, "")) for byte in (start, end))
        used = {name for _, name in self.names[first:last]}
        found = {defined_class(name, user, classes) for name in used}
        return frozenset(name for name in found if name is not None and name != user)


def uses_of_classes(root: Node) -> ClassUses:
    """Every use of what may be a class."""
    nodes = [(node.start_byte, dotted_name(node)) for node in captures(root, _USES).get("use", [])]
    return ClassUses(tuple((byte, name) for byte, name in nodes if name is not None))
