"""Where a file makes a model and calls it: ``net = Net(10)`` and, later, ``net(torch.randn(2, 3))``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.python.expressions import CHAINED_METHODS, LONGEST_EXPRESSION, dotted
from fxlsp.source.python.inlining import Chain, ScopedExpression, at_module_level, is_local, uses_locals
from fxlsp.source.python.scopes import Scope, ScopeKind, scopes_of
from fxlsp.source.recipes.module_calls import CallExpression, calls_of, expression_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import field, text_of

_MOST_FACTORY_STEPS = 3
"""Functions that return what a function returns."""


@dataclass(frozen=True)
class CallSite:
    """A call of a class, or of the module made by it, in words that mean the same at the top of the module."""

    span: Span
    init: ast.expr | None
    """The expression that makes the model; None where it depends on what is known only when the code runs."""
    inputs: ast.Call | None
    """A call with the arguments that it gets; None where it is not run here, or they depend on such things."""
    factory_call: ast.expr | None = None
    """A call of the function around, where that alone makes the same: it says so without that function's names."""


@dataclass(frozen=True)
class CallSiteQuery:
    """Whose call sites are asked for."""

    names: frozenset[str]
    """Of a class, a factory or an instance, as the module knows it: ``Net``, ``Outer.Inner``, ``models.Net``."""
    is_instance: bool
    own: Span | None
    """Its statement, if it stands in this file; what is called in there is none of its call sites."""


def call_sites(document: Document, subject: CallSiteQuery, models: tuple[Span, ...]) -> tuple[CallSite, ...]:
    """The call sites of a class, factory or instance, in the order of the text; found once for each subject.

    Args:
        models: the statements of the model classes: what they pass on to their parts is known only to them.
    """
    known = document.derive(_known_sites)
    if (subject, models) not in known:
        search = _Search(document, subject, models)
        sites = sorted([*search.constructions(), *search.runs()], key=lambda site: site.span)
        known[subject, models] = tuple(sites)
    return known[subject, models]


def _known_sites(_: Document) -> dict[tuple[CallSiteQuery, tuple[Span, ...]], tuple[CallSite, ...]]:
    """Empty, to be filled: a file is asked again whenever one that it uses is edited."""
    return {}


def factory_names(document: Document, names: frozenset[str]) -> frozenset[str]:
    """``names`` and the functions at the top of a file that return what things of these names make."""
    found = names
    for _ in range(_MOST_FACTORY_STEPS):
        found |= {each.function for each in calls_of(document).returning if each.called <= found}
    return found


class _Search:
    """The call sites of one subject."""

    def __init__(self, document: Document, subject: CallSiteQuery, models: tuple[Span, ...]) -> None:
        self._calls = calls_of(document)
        self._scopes = scopes_of(document)
        self._subject = subject
        self._models = models
        self._factories = frozenset[str]() if subject.is_instance else factory_names(document, subject.names)

    def constructions(self) -> Iterator[CallSite]:
        """The calls that make what the subject makes."""
        named = [(name, call) for name in self._factories for call in self._calls.by_name.get(name, [])]
        for name, call in named:
            hidden = is_local(name.partition(".")[0], self._use(ast.Constant(None), call))
            site = None if hidden or self._in_subject(call) else self._construction(call)
            if site is not None:
                yield site

    def runs(self) -> Iterator[CallSite]:
        """The calls of the modules that the subject made."""
        for call, module, arguments in self._calls.runs:
            chain = self._from_subject(module)
            if chain is None or self._in_subject(call) or self._in_model(call):
                continue
            init, inputs = chain.at_module_level(self._scopes), self._inputs(self._use(arguments, call))
            if init is not None or inputs is not None:
                yield CallSite(call.span, init, inputs)

    def _construction(self, call: CallExpression) -> CallSite | None:
        expression = expression_of(_whole_chain(call.node))
        use = None if expression is None else self._use(expression, call)
        if use is None or (self._in_model(call) and uses_locals(use)):
            return None
        init, factory_call = at_module_level(use, self._scopes), self._enclosing_factory_call(use.scope)
        return None if init is None and factory_call is None else CallSite(call.span, init, None, factory_call)

    def _inputs(self, arguments: ScopedExpression) -> ast.Call | None:
        resolved = at_module_level(arguments, self._scopes)
        return resolved if isinstance(resolved, ast.Call) else None

    def _use(self, expression: ast.expr, call: CallExpression) -> ScopedExpression:
        byte = call.node.start_byte
        return ScopedExpression(expression, self._scopes.at(byte), byte)

    def _from_subject(self, module: Chain) -> Chain | None:
        """How a module comes from the subject, if it does."""
        if self._subject.is_instance:
            return module.from_instance(self._subject.names)
        start = module.start
        return module if isinstance(start, ast.Call) and dotted(start.func) in self._factories else None

    def _in_subject(self, call: CallExpression) -> bool:
        return self._subject.own is not None and _within(call.span, self._subject.own)

    def _in_model(self, call: CallExpression) -> bool:
        return any(_within(call.span, model) for model in self._models)

    def _enclosing_factory_call(self, scope: Scope) -> ast.expr | None:
        """The call of the function around, if that alone makes what the subject makes."""
        if scope.kind is not ScopeKind.FUNCTION or scope.parent is not self._scopes.module:
            return None
        name = field(scope.definition, "name")
        alone = {each.function for each in self._calls.returning if each.alone} & self._factories
        if name is None or text_of(name) not in alone:
            return None
        return ast.Call(ast.Name(text_of(name), ast.Load()), [], [])


def _whole_chain(call: Node) -> Node:
    """``Net(10).to(device).eval()`` for the call ``Net(10)`` in it."""
    while (attribute := call.parent) is not None and attribute.type == "attribute":
        method, outer = field(attribute, "attribute"), attribute.parent
        if method is None or text_of(method) not in CHAINED_METHODS or outer is None or outer.type != "call":
            break
        if outer.end_byte - outer.start_byte > LONGEST_EXPRESSION:
            break
        call = outer
    return call


def _within(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) < (outer.end_line, outer.end_column)
