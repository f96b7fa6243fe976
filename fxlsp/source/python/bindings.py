"""The bindings of names in a file."""

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
(augmented_assignment) @augmented
(for_statement) @left
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
"""The start of a call that opens a file with a literal name, as configurations are read."""
_MUTATORS = frozenset({"append", "extend", "insert", "update", "setdefault", "add", "pop", "remove", "clear"})
"""Methods that modify a list, set or dictionary, so that its value is no longer the assigned one."""
_RESHAPING = re.compile(r"(unsqueeze|squeeze|t|transpose|swapaxes|swapdims|resize|resize_as|as_strided)_")
"""Methods that give a tensor another shape in place."""
_WRITING = re.compile(
    r"(abs|add|bernoulli|ceil|clamp|clamp_max|clamp_min|clip|copy|cumsum|div|exp|fill|fill_diagonal|floor|fmod"
    r"|index_fill|masked_fill|mul|neg|normal|pow|random|relu|remainder|round|scatter|sigmoid|sqrt|sub|tanh|tril|triu"
    r"|trunc|uniform|zero)_"
)
"""Methods that write into a tensor, which keeps its shape."""
_OF_WEIGHTS = re.compile(r"_*(load|init|restore|save|log|print|write)")
"""Methods that read or write files, or change weights alone."""


class BindingKind(Enum):
    """Way in which a name gets its value."""

    ASSIGNED = auto()
    """One expression is assigned."""
    METHOD_CALLED = auto()
    """The name still refers to the same object, on which a method is called: ``net.eval()``."""
    ATTRIBUTE_SET = auto()
    """The name still refers to the same object, of which an attribute is set: ``net.width = 3``."""
    CHANGED = auto()
    """The name still refers to the same object, or one like it, which is changed: ``x[0] = 1``, ``x += 1``.

    A tensor keeps its shape.
    """
    RESHAPED = auto()
    """The name still refers to the same tensor, which has another shape: ``x.unsqueeze_(0)``."""
    CONFIGURED = auto()
    """The name still refers to the same object, of which another method is called: ``encoder.freeze(2)``."""
    EXPRESSION_LOCAL = auto()
    """The variable of a comprehension or lambda, which exists in that expression only."""
    IMPORTED = auto()
    OTHER = auto()
    """No expression states the value: a loop variable, an argument, a part of a tuple."""


@dataclass(frozen=True)
class Change:
    """Statement that changes the object of a name: ``x[0] += 1``."""

    target: str
    """Source of its left side."""
    operator: str
    """``=``, ``+=``, ..."""
    value: str


@dataclass(frozen=True)
class Binding:
    """One binding of a name."""

    name: str
    kind: BindingKind
    start: int
    """The byte after which the name has this value: for an assignment the last one of its statement."""
    block: tuple[int, int]
    """Bytes of the code that certainly runs after it, from ``start`` on."""
    value: str | None = None
    """The source of the bound expression, for kinds that have one."""
    parameter: bool = False
    """Whether it is a parameter; ``value`` is then its default, which is evaluated outside the function."""
    change: Change | None = None
    """The statement of the kind ``CHANGED``, where that is known and ``value`` is not."""
    attribute: str | None = None
    """The attribute of the kind ``ATTRIBUTE_SET``; None where it is modified rather than set: ``x.data[0] = 1``."""

    def reaches(self, byte: int) -> bool:
        """Return whether code at a byte runs after the binding in every branch."""
        return self.start < byte and self.block[0] <= byte < self.block[1]


def bindings_of(root: Node) -> list[Binding]:
    """Return every binding of a file, in text order."""
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
    elif left.type in ("subscript", "attribute"):
        yield from _changed(left, Change(text_of(left), "=", text_of(right)), node)
    else:
        yield from _targets(left, node)


def _same_length(left: Node, right: Node) -> bool:
    starred = any(child.type == "list_splat_pattern" for child in left.named_children)
    return left.named_child_count == right.named_child_count and not starred


def _assigned(target: Node, value: Node, statement: Node) -> Binding:
    text = f"({text_of(value)})" if value.type == "expression_list" else text_of(value)
    return Binding(text_of(target), BindingKind.ASSIGNED, statement.end_byte - 1, _block(statement), text)


def _targets(pattern: Node | None, statement: Node) -> Iterator[Binding]:
    """Yield the bindings of a pattern; an item assignment changes the object of its name."""
    waiting = [] if pattern is None else [pattern]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield Binding(text_of(node), BindingKind.OTHER, statement.start_byte, _block(statement))
        elif node.type in ("subscript", "attribute"):
            yield from _changed(node, None, statement)
        else:
            waiting.extend(node.named_children)


def _changed(target: Node, change: Change | None, statement: Node) -> Iterator[Binding]:
    """Yield the binding of the object of which an item or attribute is set or changed."""
    owner: Node | None = target
    while owner is not None and owner.type == "subscript":
        owner = field(owner, "value")
    start, block = statement.end_byte - 1, _block(statement)
    if owner is not None and owner.type == "identifier":
        yield Binding(text_of(owner), BindingKind.CHANGED, start, block, change=change)
    elif owner is not None and owner.type == "attribute":
        holder, name = field(owner, "object"), field(owner, "attribute")
        if holder is None or name is None or holder.type != "identifier":
            return
        is_set = owner == target and change is not None and change.operator == "="
        if is_set and change is not None and text_of(name) == "requires_grad":
            value = f"{text_of(holder)}.requires_grad_({change.value})"
            yield Binding(text_of(holder), BindingKind.CHANGED, start, block, value)
            return
        attribute = text_of(name) if is_set or change is None else None
        yield Binding(text_of(holder), BindingKind.ATTRIBUTE_SET, start, block, attribute=attribute)


def _augmented(node: Node) -> Iterator[Binding]:
    left, right, operator = field(node, "left"), field(node, "right"), field(node, "operator")
    if left is None or right is None or operator is None:
        return
    change = Change(text_of(left), text_of(operator), text_of(right))
    if left.type == "identifier":
        # The only operator that changes the shape.
        kind = BindingKind.RESHAPED if change.operator == "@=" else BindingKind.CHANGED
        yield Binding(text_of(left), kind, node.end_byte - 1, _block(node), change=change)
    else:
        yield from _changed(left, change, node)


def _left(node: Node) -> Iterator[Binding]:
    left, body = field(node, "left"), field(node, "body")
    rounds = dict(_first_round(left, field(node, "right"))) if body is not None else {}
    for target in _targets(left, node):
        value = rounds.get(target.name)
        if value is None or body is None:
            yield target
        else:
            yield Binding(target.name, BindingKind.ASSIGNED, node.start_byte, body.byte_range, value)


def _first_round(target: Node | None, values: Node | None) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the first iteration of a loop over a literal."""
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
    """Yield the bindings of ``with ... as f`` and ``except ... as e``.

    For a file opened by a literal name the value is the call of ``open``.
    """
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
    """Yield the binding of a method call that modifies a module, a tensor or a collection."""
    call = first_part(node)
    callee = None if call is None else field(call, "function")
    owner = None if callee is None else field(callee, "object")
    method = None if callee is None else field(callee, "attribute")
    if call is None or owner is None or method is None:
        return
    kind = _kind_of_update(text_of(method))
    if kind is not None:
        yield Binding(text_of(owner), kind, node.end_byte - 1, _block(node), text_of(call))
    elif text_of(method) in _MUTATORS:
        yield from _targets(owner, node)
    elif not _OF_WEIGHTS.match(text_of(method)):
        yield Binding(text_of(owner), BindingKind.CONFIGURED, node.end_byte - 1, _block(node), text_of(call))


def _kind_of_update(method: str) -> BindingKind | None:
    """Return the kind of a method that returns the object that it modifies."""
    if method in MODE_METHODS:
        return BindingKind.METHOD_CALLED
    if _WRITING.fullmatch(method):
        return BindingKind.CHANGED
    return BindingKind.RESHAPED if _RESHAPING.fullmatch(method) else None


def _parameters(function: Node) -> Iterator[Binding]:
    body = field(function, "body")
    if body is None:
        return
    for name, value in parameter_defaults(function):
        kind = BindingKind.OTHER if value is None else BindingKind.ASSIGNED
        # Bound where the body starts, so that the bindings in the body come later.
        yield Binding(text_of(name), kind, body.start_byte - 1, body.byte_range, value, parameter=True)


def parameter_defaults(function: Node) -> Iterator[tuple[Node, str | None]]:
    """Yield the name of each parameter and the source of its default, if any.

    The defaults of ``*args`` and ``**kwargs`` are ``()`` and ``{}``.
    """
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
    """Return the bytes of the block that contains a statement.

    The body of a ``with`` is part of the block around it: the code after it runs after its body.
    """
    for parent in ancestors(node):
        of_with = parent.parent is not None and parent.parent.type == "with_statement"
        if parent.type in ("block", "module") and not of_with:
            return parent.byte_range
    return node.byte_range


_READERS: dict[str, Callable[[Node], Iterator[Binding]]] = {
    "assignment": _assignment,
    "augmented": _augmented,
    "left": _left,
    "name": _name,
    "target": _target,
    "import": _import,
    "parameters": _parameters,
    "lambda": _lambda,
    "comprehension": _comprehension,
    "update": _update,
}
