"""The ``forward`` of a class, the spans of its parameters, and the displays that it returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.python.class_statements import ClassStatement, statements_run_by, with_decorators
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import LineIndex, Span
from fxlsp.source.text.syntax import ancestors, assignment_in, field, first_part, parents_of, span_of, text_of


@dataclass(frozen=True)
class ForwardDef:
    """``forward`` that a class itself defines or assigns."""

    name: Span
    extent: Span
    """The whole statement, decorators included."""
    parameters: tuple[str, ...]
    """Their names without the first one (``self``), with stars; empty for an assigned ``forward``."""


@dataclass(frozen=True)
class ReturnedDisplay:
    """Tuple, list or dictionary that a ``return`` writes out: ``return a, b``."""

    end: Span
    """Its last character."""
    size: int
    """How many items it has."""
    is_dict: bool
    is_only: bool
    """Whether the function has no other ``return``."""


def forward_of(document: Document, statement: ClassStatement) -> ForwardDef | None:
    """Return the last ``forward`` in a class: after overloads the implementation."""
    found: ForwardDef | None = None
    for node in statements_run_by(field(statement.node, "body")):
        name = _forward_name(node)
        if name is not None:
            parameters = field(node, "parameters")
            names = () if parameters is None else tuple(_parameter_names(parameters))[1:]
            found = ForwardDef(span_of(name, document.lines), span_of(with_decorators(node), document.lines), names)
    return found


def _forward_name(statement: Node) -> Node | None:
    """Return the name ``forward`` in a statement that binds it, if it does."""
    name = None
    if statement.type == "function_definition":
        name = field(statement, "name")
    elif (assignment := assignment_in(statement)) is not None:
        name = field(assignment, "left")
    return name if name is not None and text_of(name) == "forward" else None


def takes_inputs(statement: ClassStatement) -> bool:
    """Return whether a class has a method ``forward(self, ...)``."""
    for node in statements_run_by(field(statement.node, "body")):
        parameters = field(node, "parameters")
        if _forward_name(node) is not None and parameters is not None:
            return next(_parameter_names(parameters), None) == "self"
    return False


def _parameter_names(parameters: Node) -> Iterator[str]:
    for parameter in parameters.named_children:
        name: Node | None = parameter
        if parameter.type in ("default_parameter", "typed_default_parameter"):
            name = field(parameter, "name")
        elif parameter.type == "typed_parameter":
            name = first_part(parameter)
        if name is not None and name.type in ("identifier", "list_splat_pattern", "dictionary_splat_pattern"):
            yield text_of(name)


def parameter_spans(document: Document, forward: ForwardDef) -> tuple[Span, ...]:
    """Return the spans of all parameters but ``self``, with annotations.

    Defaults are not part of the span, parameters with stars are omitted. Empty for a ``forward`` that is assigned.
    """
    definition = _statement(document, forward)
    parameters = None if definition is None else field(definition, "parameters")
    if parameters is None:
        return ()
    spans = [_span(parameter, document.lines) for parameter in parameters.named_children]
    return tuple(span for span in spans[1:] if span is not None)


def _span(parameter: Node, lines: LineIndex) -> Span | None:
    if parameter.type in ("identifier", "typed_parameter"):
        return span_of(parameter, lines)
    name = field(parameter, "name")
    if parameter.type not in ("default_parameter", "typed_default_parameter") or name is None:
        return None
    start, end = span_of(name, lines), span_of(field(parameter, "type") or name, lines)
    return Span(start.line, start.column, end.end_line, end.end_column)


def _statement(document: Document, forward: ForwardDef) -> Node | None:
    """Return the statement that binds the name ``forward``."""
    row, column = document.lines.to_bytes(forward.name.line, forward.name.column)
    name = document.tree.root_node.named_descendant_for_point_range((row, column), (row, column))
    return None if name is None else name.parent


def returned_displays(document: Document, forward: ForwardDef) -> tuple[ReturnedDisplay, ...]:
    """Return the displays of known size that a ``forward`` returns, in text order."""
    definition = _statement(document, forward)
    if definition is None or definition.type != "function_definition" or not _returns_unchanged(definition):
        return ()
    own = [each for each in parents_of(definition, "return") if _function_around(each) == definition]
    values = [(value, _items(value)) for each in own if (value := first_part(each)) is not None]
    return tuple(
        ReturnedDisplay(_last_character(value, document.lines), len(items), value.type == "dictionary", len(own) == 1)
        for value, items in values
        if items and not any(item.type in ("list_splat", "dictionary_splat") for item in items)
    )


def _returns_unchanged(definition: Node) -> bool:
    """Return whether all decorators are torch's (``@torch.no_grad()``), none of which changes what is returned."""
    decorators = (node for node in with_decorators(definition).children if node.type == "decorator")
    return all(text_of(each).removeprefix("@").strip().startswith("torch.") for each in decorators)


def _function_around(statement: Node) -> Node | None:
    return next((each for each in ancestors(statement) if each.type == "function_definition"), None)


def _items(value: Node) -> list[Node]:
    """Return the items of a display; of any other expression none."""
    if value.type not in ("expression_list", "tuple", "list", "dictionary"):
        return []
    return [item for item in value.named_children if item.type != "comment"]


def _last_character(node: Node, lines: LineIndex) -> Span:
    span = span_of(node, lines)
    return Span(span.end_line, max(1, span.end_column - 1), span.end_line, span.end_column)
