"""The places of a file that bind names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tree_sitter import Node

from fxlsp.source.python.expressions import MODE_METHODS
from fxlsp.source.text.syntax import ancestors, captures, field, first_part, text_of, walk

_BINDINGS = """
(assignment) @assignment
[(augmented_assignment) (for_statement)] @left
(named_expression) @name
(as_pattern_target) @target
[(import_statement) (import_from_statement)] @import
[(function_definition) (class_definition)] @name
(function_definition) @parameters
(lambda) @lambda
(for_in_clause) @comprehension
(expression_statement (call function: (attribute object: (identifier)))) @update
"""

_OPENED = re.compile(r"open\(\s*[rb]?[\"']")
"""The start of a call that opens a file whose name the code knows: configurations are read so."""
_MUTATORS = frozenset({"append", "extend", "insert", "update", "setdefault", "add", "pop", "remove", "clear"})
"""Methods after which a list, set or dictionary is no longer what was assigned."""


class BindingKind(Enum):
    """How a name gets its value."""

    ASSIGNED = auto()
    """By one expression."""
    METHOD_CALLED = auto()
    """It keeps its object, on which a method is called: ``net.eval()``."""
    ATTRIBUTE_SET = auto()
    """It keeps its object, of which an attribute is set: ``net.width = 3``."""
    EXPRESSION_LOCAL = auto()
    """As the variable of a comprehension or lambda, which exists nowhere else."""
    IMPORTED = auto()
    OTHER = auto()
    """In a way that no expression states: as a loop variable, as an argument, by an item assignment."""


@dataclass(frozen=True)
class Binding:
    """One place that gives a name a value."""

    name: str
    kind: BindingKind
    start: int
    """Byte up to which the name does not have this value: for an assignment the last one of its statement."""
    block: tuple[int, int]
    """Bytes of the code that runs after it for certain, from ``start`` on."""
    value: str | None = None
    """The expression bound, if ``kind`` says that there is one."""
    parameter: bool = False
    """Whether it is a parameter; its value is then its default, which is evaluated outside the function."""

    def reaches(self, byte: int) -> bool:
        """Whether code at this byte runs after the binding, whatever branches are taken."""
        return self.start < byte and self.block[0] <= byte < self.block[1]


def bindings_of(root: Node) -> list[Binding]:
    """Every binding of a file, in the order of the text."""
    found: list[Binding] = []
    for capture, nodes in captures(root, _BINDINGS).items():
        for node in nodes:
            found.extend(_READERS[capture](node))
    return sorted(found, key=lambda binding: binding.start)


def _assignment(node: Node) -> Iterator[Binding]:
    left, right = field(node, "left"), field(node, "right")
    while right is not None and right.type == "assignment":
        right = field(right, "right")
    if left is None or right is None:
        return
    if left.type == "identifier":
        yield _assigned(left, right, node)
    elif left.type == "pattern_list" and right.type == "expression_list" and _same_length(left, right):
        for target, value in zip(left.named_children, right.named_children, strict=True):
            yield from [_assigned(target, value, node)] if target.type == "identifier" else _targets(target, node)
    else:
        yield from _targets(left, node)


def _same_length(left: Node, right: Node) -> bool:
    starred = any(child.type == "list_splat_pattern" for child in left.named_children)
    return left.named_child_count == right.named_child_count and not starred


def _assigned(target: Node, value: Node, statement: Node) -> Binding:
    text = f"({text_of(value)})" if value.type == "expression_list" else text_of(value)
    return Binding(text_of(target), BindingKind.ASSIGNED, statement.end_byte - 1, _block(statement), text)


def _targets(pattern: Node | None, statement: Node) -> Iterator[Binding]:
    """The names that a pattern binds; an item assignment changes the object behind its name."""
    waiting = [] if pattern is None else [pattern]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield Binding(text_of(node), BindingKind.OTHER, statement.start_byte, _block(statement))
        elif node.type == "subscript":
            owner = field(node, "value")
            waiting.extend([] if owner is None else [owner])
        elif node.type == "attribute":
            yield from _attribute_set(node, statement)
        else:
            waiting.extend(node.named_children)


def _attribute_set(attribute: Node, statement: Node) -> Iterator[Binding]:
    owner = field(attribute, "object")
    if owner is not None and owner.type == "identifier":
        yield Binding(text_of(owner), BindingKind.ATTRIBUTE_SET, statement.end_byte - 1, _block(statement))


def _left(node: Node) -> Iterator[Binding]:
    left, body = field(node, "left"), field(node, "body")
    rounds = dict(_first_round(left, field(node, "right"))) if node.type == "for_statement" and body is not None else {}
    for target in _targets(left, node):
        value = rounds.get(target.name)
        if value is None or body is None:
            yield target
        else:
            yield Binding(target.name, BindingKind.ASSIGNED, node.start_byte, body.byte_range, value)


def _first_round(target: Node | None, values: Node | None) -> Iterator[tuple[str, str]]:
    """What a loop over a literal gives its variables at first."""
    first = None if values is None or values.type not in ("list", "tuple") else first_part(values)
    if target is None or values is None:
        return
    if target.type == "identifier" and first is not None:
        yield text_of(target), text_of(first)
    elif first is not None and first.type in ("tuple", "list") and _same_length(target, first):
        for part, value in zip(target.named_children, first.named_children, strict=True):
            if part.type == "identifier":
                yield text_of(part), text_of(value)


def _name(node: Node) -> Iterator[Binding]:
    yield from _targets(field(node, "name"), node)


def _target(node: Node) -> Iterator[Binding]:
    """``with ... as f`` and ``except ... as e``; a file that is opened by its name is what the call returns."""
    pattern, name = node.parent, first_part(node)
    opened = None if pattern is None else first_part(pattern)
    if opened is None or name is None or name.type != "identifier" or not _OPENED.match(text_of(opened)):
        yield from _targets(node, node)
    else:
        yield Binding(text_of(name), BindingKind.ASSIGNED, node.end_byte - 1, _block(node), text_of(opened))


def _import(node: Node) -> Iterator[Binding]:
    for item in node.children_by_field_name("name"):
        name = field(item, "alias") if item.type == "aliased_import" else first_part(item)
        if name is not None:
            yield Binding(text_of(name), BindingKind.IMPORTED, node.start_byte, _block(node))


def _update(node: Node) -> Iterator[Binding]:
    """The change that a method makes to its object, if it is one that matters to a model or its arguments."""
    call = first_part(node)
    callee = None if call is None else field(call, "function")
    owner = None if callee is None else field(callee, "object")
    method = None if callee is None else field(callee, "attribute")
    if call is None or owner is None or method is None:
        return
    if text_of(method) in MODE_METHODS:
        yield Binding(text_of(owner), BindingKind.METHOD_CALLED, node.end_byte - 1, _block(node), text_of(call))
    elif text_of(method) in _MUTATORS:
        yield from _targets(owner, node)


def _parameters(function: Node) -> Iterator[Binding]:
    body = field(function, "body")
    if body is None:
        return
    for name, value in parameter_defaults(function):
        kind = BindingKind.OTHER if value is None else BindingKind.ASSIGNED
        # It is bound where the body starts, so that the body's own bindings come later.
        yield Binding(text_of(name), kind, body.start_byte - 1, body.byte_range, value, parameter=True)


def parameter_defaults(function: Node) -> Iterator[tuple[Node, str | None]]:
    """The name of each parameter and the value it has when nobody passes one, if it has any then."""
    parameters = field(function, "parameters")
    for parameter in [] if parameters is None else parameters.named_children:
        name, value = _parameter(parameter)
        if name is not None:
            yield name, value


def _parameter(parameter: Node) -> tuple[Node | None, str | None]:
    if parameter.type in ("default_parameter", "typed_default_parameter"):
        value = field(parameter, "value")
        return field(parameter, "name"), None if value is None else text_of(value)
    inner = first_part(parameter) if parameter.type == "typed_parameter" else parameter
    if inner is not None and inner.type == "list_splat_pattern":
        return first_part(inner), "()"
    if inner is not None and inner.type == "dictionary_splat_pattern":
        return first_part(inner), "{}"
    return (inner, None) if inner is not None and inner.type == "identifier" else (None, None)


def _lambda(node: Node) -> Iterator[Binding]:
    parameters = field(node, "parameters")
    for name in [] if parameters is None else parameters.named_children:
        yield from _expression_local(name, node)


def _comprehension(clause: Node) -> Iterator[Binding]:
    left = field(clause, "left")
    if left is not None and clause.parent is not None:
        yield from _expression_local(left, clause.parent)


def _expression_local(pattern: Node, expression: Node) -> Iterator[Binding]:
    for node in walk(pattern):
        if node.type == "identifier":
            yield Binding(text_of(node), BindingKind.EXPRESSION_LOCAL, expression.start_byte - 1, expression.byte_range)


def _block(node: Node) -> tuple[int, int]:
    """The bytes of the block that a statement stands in. What follows a ``with`` runs after its body."""
    for parent in ancestors(node):
        of_with = parent.parent is not None and parent.parent.type == "with_statement"
        if parent.type in ("block", "module") and not of_with:
            return parent.byte_range
    return node.byte_range


_READERS: dict[str, Callable[[Node], Iterator[Binding]]] = {
    "assignment": _assignment,
    "left": _left,
    "name": _name,
    "target": _target,
    "import": _import,
    "parameters": _parameters,
    "lambda": _lambda,
    "comprehension": _comprehension,
    "update": _update,
}
