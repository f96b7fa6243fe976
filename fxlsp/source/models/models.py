"""The models of a file: module classes, factories and instances."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.models.class_hierarchy import defined_class, is_torch_module
from fxlsp.source.models.class_hierarchy import module_classes as module_class_names
from fxlsp.source.models.forward_defs import ForwardDef, forward_of, takes_inputs
from fxlsp.source.python.class_statements import ClassStatement, class_statements, statements_run_by, with_decorators
from fxlsp.source.python.comments import recipe_comments
from fxlsp.source.python.imports import imported_names
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import assignment_in, captures, dotted_name, field, span_of, text_of

_BARE = frozenset({"Module", "ABC", "object"})
"""Base classes without a ``forward``."""
_CONTAINERS = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
"""More such classes, which run only as parts of their owners."""
_NAMES_OF_CALLS = re.compile(r"\bforward\b|__call__|__getattr")
"""Names with which a class may bind a ``forward`` that is no method of its own."""


@dataclass(frozen=True)
class ModelClass:
    """Class statement of a subclass of ``torch.nn.Module``."""

    qualname: str
    """The ``__qualname__``: ``Outer.Inner``, ``make.<locals>.Net``."""
    local: bool
    """Whether it is defined inside a function."""
    name: Span
    """The span of its name in the class statement."""
    extent: Span
    """The whole statement, decorators included."""
    forward: ForwardDef | None
    """Its own ``forward``; None where it inherits one, or has none."""
    constructs: frozenset[str]
    """Qualified names of the other model classes of this file that its body calls or passes on."""
    bases: tuple[str, ...]
    """The bases as dotted names, "" for any other expression."""
    runs: bool
    """Whether it has a ``forward`` or may inherit one other than ``nn.Module``'s."""


@dataclass(frozen=True)
class Factory:
    """Top-level function with a recipe comment, which returns a module."""

    name: str
    name_span: Span
    extent: Span
    constructs: frozenset[str]
    """Qualified names of the model classes of this file that its body calls or passes on."""


@dataclass(frozen=True)
class ModelInstance:
    """Top-level name to which a module is assigned."""

    name: str
    name_span: Span
    extent: Span


def model_classes(document: Document) -> tuple[ModelClass, ...]:
    """Return the model classes of a file in text order, a redefined one twice."""
    return document.derive(_find_model_classes)


def factories(document: Document) -> tuple[Factory, ...]:
    """Return the top-level functions with a recipe comment, in text order."""
    return document.derive(_find_factories)


def instances(document: Document) -> tuple[ModelInstance, ...]:
    """Return the top-level names to which a module is assigned, in text order.

    These are assignments of a call of a class of this file or of torch, and those with a recipe comment.
    """
    return document.derive(_find_instances)


def _find_model_classes(document: Document) -> tuple[ModelClass, ...]:
    root = document.tree.root_node
    classes = class_statements(root)
    names = module_class_names(classes, imported_names(root), takes_inputs, document.external_bases)
    uses = uses_of_classes(root)
    return tuple(
        _model_class(document, each, uses.classes_used_by(each, names)) for each in classes if each.qualname in names
    )


def _model_class(document: Document, statement: ClassStatement, constructs: frozenset[str]) -> ModelClass:
    forward = forward_of(document, statement)
    bare = _BARE if _NAMES_OF_CALLS.search(text_of(statement.node)) else _BARE | _CONTAINERS
    runs = forward is not None or any(base.rpartition(".")[2] not in bare for base in statement.bases)
    return ModelClass(
        statement.qualname,
        statement.local,
        span_of(statement.name, document.lines),
        span_of(statement.statement, document.lines),
        forward,
        constructs,
        statement.bases,
        runs,
    )


def _find_factories(document: Document) -> tuple[Factory, ...]:
    found: list[Factory] = []
    root = document.tree.root_node
    uses, classes = uses_of_classes(root), frozenset(model.qualname for model in model_classes(document))
    for node in statements_run_by(root):
        name = field(node, "name") if node.type == "function_definition" else None
        if name is None:
            continue
        factory = Factory(
            text_of(name),
            span_of(name, document.lines),
            span_of(with_decorators(node), document.lines),
            uses.classes_used_in(node, text_of(name), classes),
        )
        if any(recipe_comments(document, header_of(document, factory))):
            found.append(factory)
    return tuple(found)


def _find_instances(document: Document) -> tuple[ModelInstance, ...]:
    root = document.tree.root_node
    imports = imported_names(root)
    own = {model.qualname for model in model_classes(document)}
    found: list[ModelInstance] = []
    for node in root.named_children:
        assignment = assignment_in(node)
        name = None if assignment is None else field(assignment, "left")
        if assignment is None or name is None or name.type != "identifier":
            continue
        instance = ModelInstance(text_of(name), span_of(name, document.lines), span_of(node, document.lines))
        made = _constructed_class(field(assignment, "right"))
        full_name = None if made is None else imports.resolve(made)
        if (
            made in own
            or (full_name is not None and is_torch_module(full_name) and not full_name.endswith("Loss"))
            or any(recipe_comments(document, header_of(document, instance)))
        ):
            found.append(instance)
    return tuple(found)


def _constructed_class(expression: Node | None) -> str | None:
    """Return ``Net`` for ``Net(10)`` and ``Net(10).eval()``."""
    while expression is not None and expression.type == "assignment":
        expression = field(expression, "right")
    while expression is not None and expression.type == "call":
        callee = field(expression, "function")
        owner = field(callee, "object") if callee is not None and callee.type == "attribute" else None
        if owner is None or owner.type != "call":
            return dotted_name(callee)
        expression = owner
    return None


def header_of(document: Document, model: ModelClass | Factory | ModelInstance) -> Span:
    """Return the header of a statement: from its first decorator to its colon."""
    extent = model.extent
    if isinstance(model, ModelInstance):
        return extent
    name = model.name if isinstance(model, ModelClass) else model.name_span
    point = document.lines.to_bytes(name.line, name.column)
    identifier = document.tree.root_node.descendant_for_point_range(point, point)
    definition = None if identifier is None else identifier.parent
    colons = [] if definition is None else [child for child in definition.children if child.type == ":"]
    end = span_of(colons[-1], document.lines) if colons else name
    return Span(extent.line, extent.column, end.end_line, end.end_column)


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
"""Places where a class is called or passed to code that may call it."""


class ClassUses(NamedTuple):
    """Dotted names that a file calls or passes to code that may call them."""

    names: tuple[tuple[int, str], ...]
    """(start byte, name), in text order."""

    def classes_used_by(self, statement: ClassStatement, classes: frozenset[str]) -> frozenset[str]:
        """Return those of the ``classes`` (qualified names) that the body of a class uses.

        The class itself is not among them.
        """
        superclasses = field(statement.node, "superclasses")
        start = statement.node.start_byte if superclasses is None else superclasses.end_byte
        return self._classes_between(start, statement.node.end_byte, statement.qualname, classes)

    def classes_used_in(self, function: Node, name: str, classes: frozenset[str]) -> frozenset[str]:
        """Return the qualified names of ``classes`` that a top-level function uses."""
        return self._classes_between(function.start_byte, function.end_byte, name, classes)

    def _classes_between(self, start: int, end: int, user: str, classes: frozenset[str]) -> frozenset[str]:
        first, last = (bisect_left(self.names, (byte, "")) for byte in (start, end))
        used = {name for _, name in self.names[first:last]}
        found = {defined_class(name, user, classes) for name in used}
        return frozenset(name for name in found if name is not None and name != user)


def uses_of_classes(root: Node) -> ClassUses:
    """Return all names in a file that may refer to a used class."""
    nodes = [(node.start_byte, dotted_name(node)) for node in captures(root, _USES).get("use", [])]
    return ClassUses(tuple((byte, name) for byte, name in nodes if name is not None))
