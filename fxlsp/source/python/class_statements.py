"""The class statements of a file, whatever they derive from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.text.syntax import dotted_name, field, parents_of, text_of

_LOCALS = "<locals>"
"""As Python writes it in the ``__qualname__`` of what a function defines."""

_BLOCKS = {
    *("block", "if_statement", "elif_clause", "else_clause", "for_statement", "while_statement", "with_statement"),
    *("try_statement", "except_clause", "finally_clause", "match_statement", "case_clause", "ERROR"),
}
"""What a statement may be wrapped in and still be run by the body around it."""


@dataclass(frozen=True)
class ClassStatement:
    """One class statement."""

    node: Node
    """The ``class_definition``."""
    qualname: str
    """As Python would set ``__qualname__``."""
    bases: tuple[str, ...]
    """Its bases as written, without their type arguments; "" for one that is not a dotted name."""

    @property
    def name(self) -> Node:
        name = field(self.node, "name")
        return self.node if name is None else name

    @property
    def local(self) -> bool:
        """Whether a function makes it, each time it runs."""
        return _LOCALS in self.qualname

    @property
    def statement(self) -> Node:
        """The class with its decorators."""
        return with_decorators(self.node)


def class_statements(root: Node) -> tuple[ClassStatement, ...]:
    """Every class statement, in the order of the text; a class defined twice appears twice."""
    found: list[ClassStatement] = []
    enclosing: list[tuple[int, str]] = []
    """(end, prefix of the names inside) of the definitions around, outermost first."""
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
    """The whole statement of a ``class`` or ``def``."""
    parent = definition.parent
    return parent if parent is not None and parent.type == "decorated_definition" else definition


def statements_run_by(block: Node | None) -> Iterator[Node]:
    """The statements that run when a body runs: those within ``if``, ``try`` and the like too, in order.

    Definitions come without their decorators, and what is inside them does not run.
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
    """``"Outer.Inner."``, ``"Outer."`` and ``""`` for ``Outer.Inner``: where names used inside it may be defined."""
    parts = qualname.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length]) + "."
    yield ""
