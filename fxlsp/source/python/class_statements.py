"""The class statements of a file, whatever their bases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.text.syntax import dotted_name, field, parents_of, text_of

_LOCALS = "<locals>"
"""As in the ``__qualname__`` of whatever a function defines."""

_BLOCKS = {
    *("block", "if_statement", "elif_clause", "else_clause", "for_statement", "while_statement", "with_statement"),
    *("try_statement", "except_clause", "finally_clause", "match_statement", "case_clause", "ERROR"),
}
"""Nodes around a statement that still runs as a part of the body around them."""


@dataclass(frozen=True)
class ClassStatement:
    """One class statement and its bases."""

    node: Node
    """The ``class_definition``."""
    qualname: str
    """The ``__qualname__`` of the class."""
    bases: tuple[str, ...]
    """The bases as written, without type arguments; "" for one that is not a dotted name."""

    @property
    def name(self) -> Node:
        """The identifier of the class; the whole statement where it is missing."""
        name = field(self.node, "name")
        return self.node if name is None else name

    @property
    def local(self) -> bool:
        """Whether it is defined inside a function."""
        return _LOCALS in self.qualname

    @property
    def statement(self) -> Node:
        """The class statement with its decorators."""
        return with_decorators(self.node)


def class_statements(root: Node) -> tuple[ClassStatement, ...]:
    """Return all class statements, in text order; a class defined twice appears twice."""
    found: list[ClassStatement] = []
    enclosing: list[tuple[int, str]] = []
    """(end byte, prefix of the qualified names inside) of the enclosing definitions, outermost first."""
    for node in sorted(parents_of(root, "class") + parents_of(root, "def"), key=_start):
        while enclosing and enclosing[-1][0] <= node.start_byte:
            enclosing.pop()
        name = field(node, "name")
        if name is None:
            continue
        qualname = (enclosing[-1][1] if enclosing else "") + text_of(name)
        if node.type == "class_definition":
            found.append(ClassStatement(node, qualname, tuple(_bases(node))))
            enclosing.append((node.end_byte, f"{qualname}."))
        else:
            enclosing.append((node.end_byte, f"{qualname}.{_LOCALS}."))
    return tuple(found)


def _start(node: Node) -> int:
    return node.start_byte


def _bases(node: Node) -> Iterator[str]:
    arguments = field(node, "superclasses")
    for base in [] if arguments is None else arguments.named_children:
        if base.type in ("keyword_argument", "comment"):
            continue
        if base.type == "subscript":
            yield dotted_name(field(base, "value")) or ""
        else:
            yield dotted_name(base) or ""


def with_decorators(definition: Node) -> Node:
    """Return the statement of a ``class`` or ``def`` with its decorators."""
    parent = definition.parent
    return parent if parent is not None and parent.type == "decorated_definition" else definition


def statements_run_by(block: Node | None) -> Iterator[Node]:
    """Yield the statements that may run when a body runs, in text order.

    Those inside ``if``, ``try`` and the like are included, the bodies of definitions are not. Definitions are yielded
    without their decorators.
    """
    waiting = [] if block is None else list(reversed(block.named_children))
    while waiting:
        node = waiting.pop()
        if node.type == "decorated_definition":
            definition = field(node, "definition")
            if definition is not None:
                yield definition
        elif node.type in _BLOCKS:
            waiting.extend(reversed(node.named_children))
        else:
            yield node


def enclosing_prefixes(qualname: str) -> Iterator[str]:
    """Yield ``"Outer.Inner."``, ``"Outer."`` and ``""`` for ``Outer.Inner``.

    These are the prefixes of the definitions to which a name inside may refer.
    """
    parts = qualname.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length]) + "."
    yield ""
