"""Where a file itself makes a model and calls it: ``net = Net(10)`` and, later, ``net(torch.randn(2, 3))``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.documents import Document
from fxlsp.source.expressions import CHAINED_METHODS, dotted, parse_expression, write, write_arguments
from fxlsp.source.positions import Span
from fxlsp.source.scopes import ScopeKind, scopes_of
from fxlsp.source.substitution import Chain, Unknown, Use, at_module_level, chain_of, uses_locals
from fxlsp.source.syntax import captures, dotted_name, field, first_part, span_of, text_of

_CALLS = "(call) @call"
_RETURNS = "(return_statement) @return"
_MOST_MAKERS = 3
"""Functions that return what a function returns."""


@dataclass(frozen=True)
class CallSite:
    """A call of a class, or of the module made by it, in words that mean the same at the top of the module."""

    span: Span
    init: str | None
    """The expression that makes the model; None where it depends on what is known only when the code runs."""
    inputs: str | None
    """The arguments of its call; None where it is not called here, or they depend on such things."""


@dataclass(frozen=True)
class Subject:
    """Whose call sites are asked for."""

    name: str
    """A class, factory or instance, as the module knows it: ``Net``, ``Outer.Inner``."""
    is_instance: bool
    own: Span
    """Its statement; what is called in there is none of its call sites."""


def call_sites(document: Document, subject: Subject, models: Iterable[Span]) -> Iterator[CallSite]:
    """The call sites of a class, factory or instance, in the order of the text.

    Args:
        models: the statements of the model classes: what they pass on to their parts is known only to them.
    """
    return _Search(document, subject, tuple(models)).sites()


class _Search:
    def __init__(self, document: Document, subject: Subject, models: tuple[Span, ...]) -> None:
        self._document = document
        self._root = document.tree.root_node
        self._scopes = scopes_of(document)
        self._subject = subject
        self._models = models
        self._makers = frozenset() if subject.is_instance else self._names_of_makers()

    def sites(self) -> Iterator[CallSite]:
        for call in captures(self._root, _CALLS).get("call", []):
            span = span_of(call, self._document.lines)
            if _within(span, self._subject.own):
                continue
            in_model = any(_within(span, model) for model in self._models)
            made = self._construction(call, in_model)
            if made is not None:
                yield CallSite(span, made, None)
            elif not in_model:
                yield from self._run(call, span)

    def _use(self, expression: ast.expr, node: Node) -> Use:
        return Use(expression, self._scopes.at(node.start_byte), node.start_byte)

    def _construction(self, call: Node, in_model: bool) -> str | None:
        """The construction that a call is, as the module would write it."""
        if dotted_name(field(call, "function")) not in self._makers:
            return None
        expression = parse_expression(text_of(_whole_chain(call)))
        if expression is None or (in_model and uses_locals(self._use(expression, call))):
            return None
        return self._written(self._use(expression, call))

    def _written(self, use: Use) -> str | None:
        try:
            return write(at_module_level(use, self._scopes))
        except Unknown:
            return None

    def _run(self, call: Node, span: Span) -> Iterator[CallSite]:
        """The site, if a call is one of the module that the subject makes."""
        callee = _called_module(call)
        chain = None if callee is None else self._chain(callee)
        expression = None if chain is None else parse_expression(text_of(call))
        if chain is None or not isinstance(expression, ast.Call):
            return
        try:
            init = write(chain.at_module_level(self._scopes))
        except Unknown:
            init = None
        inputs = self._inputs(expression, call)
        if init is not None or inputs is not None:
            yield CallSite(span, init, inputs)

    def _inputs(self, expression: ast.Call, call: Node) -> str | None:
        # What is called does not matter here: it is written without names of its own.
        arguments = ast.Call(ast.Constant(value=None), expression.args, expression.keywords)
        try:
            resolved = at_module_level(self._use(arguments, call), self._scopes)
        except Unknown:
            return None
        return write_arguments(resolved) if isinstance(resolved, ast.Call) else None

    def _chain(self, callee: Node) -> Chain | None:
        """How a called expression comes from the subject, if it does."""
        expression = parse_expression(text_of(callee))
        if expression is None:
            return None
        subject = self._subject
        chain = chain_of(self._use(expression, callee), subject.name if subject.is_instance else None)
        if isinstance(chain.start, ast.Call):
            return chain if dotted(chain.start.func) in self._makers else None
        return chain if subject.is_instance and dotted(chain.start) == subject.name else None

    def _names_of_makers(self) -> frozenset[str]:
        """The subject and the functions of the module that return what it makes."""
        makers = frozenset({self._subject.name})
        returns = self._returns()
        for _ in range(_MOST_MAKERS):
            more = {name for name, starts in returns.items() if starts and starts <= makers}
            if more <= makers:
                break
            makers |= more
        return makers

    def _returns(self) -> dict[str, frozenset[str | None]]:
        """For each top-level function, what is called to make the things it returns."""
        found: dict[str, set[str | None]] = {}
        for node in captures(self._root, _RETURNS).get("return", []):
            scope = self._scopes.at(node.start_byte)
            name, value = scope.definition.child_by_field_name("name"), first_part(node)
            if scope.kind is not ScopeKind.FUNCTION or scope.parent is not self._scopes.module:
                continue
            expression = None if value is None else parse_expression(text_of(value))
            if name is not None and expression is not None:
                start = chain_of(self._use(expression, node)).start
                made = dotted(start.func) if isinstance(start, ast.Call) else None
                found.setdefault(text_of(name), set()).add(made)
        return {name: frozenset(starts) for name, starts in found.items()}


def _whole_chain(call: Node) -> Node:
    """``Net(10).to(device).eval()`` for the call ``Net(10)`` in it."""
    while (attribute := call.parent) is not None and attribute.type == "attribute":
        method, outer = field(attribute, "attribute"), attribute.parent
        if method is None or text_of(method) not in CHAINED_METHODS or outer is None or outer.type != "call":
            break
        call = outer
    return call


def _called_module(call: Node) -> Node | None:
    """The expression that a call calls as a module: ``net`` in ``net(x)`` and in ``net.forward(x)``."""
    callee = field(call, "function")
    if callee is None or callee.type in ("identifier", "call", "parenthesized_expression"):
        return callee
    attribute = field(callee, "attribute")
    return field(callee, "object") if attribute is not None and text_of(attribute) == "forward" else None


def _within(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) < (outer.end_line, outer.end_column)
