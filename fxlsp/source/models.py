"""What a file offers to trace: module classes, and the factories and instances that make modules of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.ancestry import defined_class, is_torch_module
from fxlsp.source.ancestry import module_classes as module_class_names
from fxlsp.source.class_statements import ClassStatement, class_statements, statements_run_by, with_decorators
from fxlsp.source.comments import recipe_comments
from fxlsp.source.documents import Document
from fxlsp.source.imports import imported_names
from fxlsp.source.positions import Span
from fxlsp.source.syntax import captures, dotted_name, field, first_part, span_of, text_of

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


@dataclass(frozen=True)
class ForwardDef:
    """The ``forward`` that a class itself defines or assigns."""

    name: Span
    extent: Span
    """The whole statement, decorators included."""
    parameters: tuple[str, ...]
    """Their names without the first one (``self``), stars included; none are known of an assigned ``forward``."""


@dataclass(frozen=True)
class ModelClass:
    """A class statement that derives from ``torch.nn.Module``."""

    qualname: str
    """As Python sets it: ``Outer.Inner``, ``make.<locals>.Net``."""
    local: bool
    """Whether it is made inside a function."""
    name: Span
    """Its name in the class statement."""
    extent: Span
    """The whole statement, decorators included."""
    forward: ForwardDef | None
    """None where it inherits one, or has none."""
    constructs: frozenset[str]
    """Qualified names of the other model classes of this file that its body calls, or hands on to be called."""
    bases: tuple[str, ...]
    """Its bases as dotted names, "" for any other expression."""


@dataclass(frozen=True)
class Factory:
    """A top-level function that a recipe comment says returns a module."""

    name: str
    name_span: Span
    extent: Span


@dataclass(frozen=True)
class Instance:
    """A top-level name that is assigned a module."""

    name: str
    name_span: Span
    extent: Span


def model_classes(document: Document) -> tuple[ModelClass, ...]:
    """The model classes of a file in the order of the text; a class defined twice appears twice."""
    return document.derive(_find_model_classes)


def factories(document: Document) -> tuple[Factory, ...]:
    """The top-level functions with a recipe comment."""
    return document.derive(_find_factories)


def instances(document: Document) -> tuple[Instance, ...]:
    """The top-level assignments of a module: of a same-file class, of torch's own, or with a recipe comment."""
    return document.derive(_find_instances)


def _find_model_classes(document: Document) -> tuple[ModelClass, ...]:
    root = document.tree.root_node
    classes = class_statements(root)
    names = module_class_names(classes, imported_names(root), _takes_inputs)
    uses = captures(root, _USES).get("use", [])
    starts = [use.start_byte for use in uses]
    found: list[ModelClass] = []
    for each in classes:
        if each.qualname in names:
            inside = uses[bisect_left(starts, each.node.start_byte) : bisect_left(starts, each.node.end_byte)]
            found.append(_model_class(document, each, _constructed(each, inside, names)))
    return tuple(found)


def _model_class(document: Document, statement: ClassStatement, constructs: frozenset[str]) -> ModelClass:
    return ModelClass(
        statement.qualname,
        statement.local,
        span_of(statement.name, document.lines),
        span_of(statement.statement, document.lines),
        _forward(document, statement),
        constructs,
        statement.bases,
    )


def _constructed(statement: ClassStatement, uses: list[Node], names: frozenset[str]) -> frozenset[str]:
    heads = {name.rpartition(".")[2] for name in names} | {name.partition(".")[0] for name in names}
    superclasses = field(statement.node, "superclasses")
    body_start = statement.node.start_byte if superclasses is None else superclasses.end_byte
    found: set[str] = set()
    for use in uses:
        dotted = dotted_name(use) if use.start_byte >= body_start else None
        if dotted is not None and dotted.partition(".")[0] in heads:
            name = defined_class(dotted, statement.qualname, names)
            found.update([] if name is None else [name])
    return frozenset(found - {statement.qualname})


def _forward(document: Document, statement: ClassStatement) -> ForwardDef | None:
    """The last ``forward`` of the class body: the one that a row of overloads ends with."""
    found: ForwardDef | None = None
    for node in statements_run_by(field(statement.node, "body")):
        name = _forward_name(node)
        if name is not None:
            parameters = field(node, "parameters")
            names = () if parameters is None else tuple(_parameter_names(parameters))[1:]
            found = ForwardDef(span_of(name, document.lines), span_of(with_decorators(node), document.lines), names)
    return found


def _forward_name(statement: Node) -> Node | None:
    """The name ``forward`` in a statement that binds it."""
    name = None
    if statement.type == "function_definition":
        name = field(statement, "name")
    elif (assignment := _assignment(statement)) is not None:
        name = field(assignment, "left")
    return name if name is not None and text_of(name) == "forward" else None


def _takes_inputs(statement: ClassStatement) -> bool:
    """Whether the class has a method ``forward(self, ...)``."""
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


def _find_factories(document: Document) -> tuple[Factory, ...]:
    found: list[Factory] = []
    for node in statements_run_by(document.tree.root_node):
        name = field(node, "name") if node.type == "function_definition" else None
        if name is None:
            continue
        factory = Factory(text_of(name), span_of(name, document.lines), span_of(with_decorators(node), document.lines))
        if any(recipe_comments(document, header_of(document, factory))):
            found.append(factory)
    return tuple(found)


def _find_instances(document: Document) -> tuple[Instance, ...]:
    root = document.tree.root_node
    imports = imported_names(root)
    own = {model.qualname for model in model_classes(document)}
    found: list[Instance] = []
    for node in root.named_children:
        assignment = _assignment(node)
        name = None if assignment is None else field(assignment, "left")
        if assignment is None or name is None or name.type != "identifier":
            continue
        instance = Instance(text_of(name), span_of(name, document.lines), span_of(node, document.lines))
        made = constructed_class(field(assignment, "right"))
        full_name = None if made is None else imports.resolve(made)
        if (
            made in own
            or (full_name is not None and is_torch_module(full_name) and not full_name.endswith("Loss"))
            or any(recipe_comments(document, header_of(document, instance)))
        ):
            found.append(instance)
    return tuple(found)


def constructed_class(expression: Node | None) -> str | None:
    """``Net`` for ``Net(10)`` and ``Net(10).eval()``: the dotted name that is called first in a chain of calls."""
    while expression is not None and expression.type == "assignment":
        expression = field(expression, "right")
    while expression is not None and expression.type == "call":
        callee = field(expression, "function")
        owner = field(callee, "object") if callee is not None and callee.type == "attribute" else None
        if owner is None or owner.type != "call":
            return dotted_name(callee)
        expression = owner
    return None


def _assignment(statement: Node) -> Node | None:
    """The assignment that a statement consists of."""
    inner = first_part(statement) if statement.type == "expression_statement" else None
    return inner if inner is not None and inner.type == "assignment" else None


def header_of(document: Document, model: ModelClass | Factory | Instance) -> Span:
    """The lines of a statement on which a recipe comment may stand: from its first decorator to its colon."""
    extent = model.extent
    if isinstance(model, Instance):
        return extent
    name = model.name if isinstance(model, ModelClass) else model.name_span
    point = document.lines.to_bytes(name.line, name.column)
    identifier = document.tree.root_node.descendant_for_point_range(point, point)
    definition = None if identifier is None else identifier.parent
    colons = [] if definition is None else [child for child in definition.children if child.type == ":"]
    end = span_of(colons[-1], document.lines) if colons else name
    return Span(extent.line, extent.column, end.end_line, end.end_column)
