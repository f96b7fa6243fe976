"""The calls of a file that may make or run a module, found once for all its models."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.bindings import parameter_defaults
from fxlsp.source.class_statements import with_decorators
from fxlsp.source.documents import Document
from fxlsp.source.expressions import LONGEST_EXPRESSION, dotted, parse_expression
from fxlsp.source.positions import Span
from fxlsp.source.scopes import ScopeKind, Scopes, scopes_of
from fxlsp.source.substitution import Chain, Use, chain_of
from fxlsp.source.syntax import captures, dotted_name, field, first_part, span_of, text_of


class Call(NamedTuple):
    """One call."""

    node: Node
    span: Span


class Run(NamedTuple):
    """A call of an expression that may be a module: ``net(x)``, ``Net()(x)``."""

    call: Call
    callee: Chain


class Returning(NamedTuple):
    """A function of the module that returns what it called something else for."""

    function: str
    called: frozenset[str | None]
    """The dotted names of what makes the things it returns, None for other things."""
    alone: bool
    """Whether it can be called as it is, without arguments."""


class Calls(NamedTuple):
    """The calls of one file."""

    by_name: dict[str, list[Call]]
    """By the dotted name of what is called, in the order of the text."""
    runs: list[Run]
    returning: list[Returning]


def calls_of(document: Document) -> Calls:
    """The calls of a document, found once."""
    return document.derive(_find_calls)


def _find_calls(document: Document) -> Calls:
    root, scopes = document.tree.root_node, scopes_of(document)
    by_name: dict[str, list[Call]] = {}
    runs: list[Run] = []
    for node in captures(root, "(call) @call").get("call", []):
        call = Call(node, span_of(node, document.lines))
        name = dotted_name(field(node, "function"))
        if name is not None:
            by_name.setdefault(name, []).append(call)
        chain = _called_module(node, scopes)
        if chain is not None:
            runs.append(Run(call, chain))
    return Calls(by_name, runs, list(_returning_functions(root, scopes)))


def _called_module(call: Node, scopes: Scopes) -> Chain | None:
    """Where the module comes from that a call runs: ``net`` in ``net(x)`` and in ``net.forward(x)``."""
    callee = field(call, "function")
    if callee is not None and callee.type == "attribute" and _attribute(callee) == "forward":
        callee = field(callee, "object")
    if callee is None or callee.type not in ("identifier", "call", "parenthesized_expression"):
        return None
    expression = ast.Name(text_of(callee), ast.Load()) if callee.type == "identifier" else expression_of(callee)
    if expression is None:
        return None
    chain = chain_of(Use(expression, scopes.at(callee.start_byte), callee.start_byte))
    return chain if isinstance(chain.start, ast.Call) or len(chain.uses) > 1 else None


def expression_of(node: Node) -> ast.expr | None:
    """The expression that a node holds; None for one of a length that nobody writes by hand."""
    # Asking for the text of each of a thousand nested calls would take the square of their number.
    return parse_expression(text_of(node)) if node.end_byte - node.start_byte <= LONGEST_EXPRESSION else None


def _attribute(node: Node) -> str | None:
    attribute = field(node, "attribute")
    return None if attribute is None else text_of(attribute)


def _returning_functions(root: Node, scopes: Scopes) -> Iterator[Returning]:
    """The functions at the top of the module that return something."""
    found: dict[str, tuple[Node, set[str | None]]] = {}
    for node in captures(root, "(return_statement) @return").get("return", []):
        scope, value = scopes.at(node.start_byte), first_part(node)
        name = field(scope.definition, "name")
        if name is None or value is None or scope.kind is not ScopeKind.FUNCTION or scope.parent is not scopes.module:
            continue
        expression = expression_of(value)
        start = None if expression is None else chain_of(Use(expression, scope, node.start_byte)).start
        called = dotted(start.func) if isinstance(start, ast.Call) else None
        found.setdefault(text_of(name), (scope.definition, set()))[1].add(called)
    for function, (definition, names) in found.items():
        yield Returning(function, frozenset(names), _can_be_called_alone(definition))


def _can_be_called_alone(definition: Node) -> bool:
    statement = with_decorators(definition)
    decorators = [text_of(child) for child in statement.children if child.type == "decorator"]
    # pytest refuses a direct call of a fixture.
    plain = not any("fixture" in decorator for decorator in decorators)
    defaults = parameter_defaults(definition)
    return plain and definition.children[0].type != "async" and all(value is not None for _, value in defaults)
