"""Places where a file creates or calls a model: ``Net(10)``, ``net(x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.python.expressions import CHAINED_METHODS, LONGEST_EXPRESSION, dotted
from fxlsp.source.python.inlining import Chain, ScopedExpression, at_module_level, is_local, unknown_name, uses_locals
from fxlsp.source.python.scopes import Scope, ScopeKind, scopes_of
from fxlsp.source.recipes.expected_failures import is_meant_to_fail
from fxlsp.source.recipes.module_calls import CallExpression, ModuleRun, calls_of, expression_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import field, text_of

_MOST_FACTORY_STEPS = 3
"""The longest chain of functions that return the result of another one."""


@dataclass(frozen=True)
class CallSite:
    """Call of a class or of its instance, as expressions for the top level."""

    span: Span
    init: ast.expr | None
    """The expression that creates the model; None where it depends on values known only when the code runs."""
    inputs: ast.Call | None
    """A call with the arguments of the model; None where it is not called, or they depend on such values."""
    factory_call: ast.expr | None = None
    """A call of the enclosing function, where that creates the same model without arguments."""


@dataclass(frozen=True)
class UnusedCallSite:
    """Call of a model that does not state what it passes."""

    span: Span
    reason: str
    """``images is known only when the code runs``."""


@dataclass(frozen=True)
class CallSiteQuery:
    """Query for the call sites of one class, factory or instance."""

    names: frozenset[str]
    """Its names in the file: ``Net``, ``Outer.Inner``, ``models.Net``."""
    is_instance: bool
    own: Span | None
    """Its statement, if it is in this file; calls inside are not call sites."""


def call_sites(document: Document, subject: CallSiteQuery, models: tuple[Span, ...]) -> tuple[CallSite, ...]:
    """Return the call sites of a class, factory or instance, in text order.

    They are computed once for each query.

    Args:
        models: the statements of the model classes: what these pass to their submodules is known only there.
    """
    known = document.derive(_known_sites)
    if (subject, models) not in known:
        search = _Search(document, subject, models)
        sites = sorted([*search.constructions(), *search.runs()], key=lambda site: site.span)
        known[subject, models] = tuple(sites)
    return known[subject, models]


def unused_call_sites(
    document: Document, subject: CallSiteQuery, models: tuple[Span, ...]
) -> tuple[UnusedCallSite, ...]:
    """Return the calls of a model that do not state what they pass, in text order, computed once for each query.

    The arguments are those of :func:`call_sites`.
    """
    known = document.derive(_known_unused)
    if (subject, models) not in known:
        found = _Search(document, subject, models).unused_runs()
        known[subject, models] = tuple(sorted(found, key=lambda site: site.span))
    return known[subject, models]


def _known_unused(_: Document) -> dict[tuple[CallSiteQuery, tuple[Span, ...]], tuple[UnusedCallSite, ...]]:
    return {}


def _known_sites(_: Document) -> dict[tuple[CallSiteQuery, tuple[Span, ...]], tuple[CallSite, ...]]:
    """Return a new cache: queries are repeated whenever a file that is used is edited."""
    return {}


def factory_names(document: Document, names: frozenset[str]) -> frozenset[str]:
    """Return ``names`` and the top-level functions that return their results."""
    found = names
    for _ in range(_MOST_FACTORY_STEPS):
        found |= {each.function for each in calls_of(document).returning if each.called <= found}
    return found


class _Search:
    """Search for the call sites of one class, factory or instance."""

    def __init__(self, document: Document, subject: CallSiteQuery, models: tuple[Span, ...]) -> None:
        self._calls = calls_of(document)
        self._scopes = scopes_of(document)
        self._subject = subject
        self._models = models
        self._factories = frozenset[str]() if subject.is_instance else factory_names(document, subject.names)

    def constructions(self) -> Iterator[CallSite]:
        """Yield the calls that create the model."""
        named = [(name, call) for name in self._factories for call in self._calls.by_name.get(name, [])]
        for name, call in named:
            hidden = is_local(name.partition(".")[0], self._use(ast.Constant(None), call))
            hidden = hidden or self._in_subject(call) or is_meant_to_fail(call.node)
            site = None if hidden else self._construction(call)
            if site is not None:
                yield site

    def runs(self) -> Iterator[CallSite]:
        """Yield the calls of modules that were created so."""
        for run, chain in self._own_runs():
            init, inputs = chain.at_module_level(self._scopes), self._inputs(self._use(run.arguments, run.call))
            if init is not None or inputs is not None:
                yield CallSite(run.call.span, init, inputs)

    def unused_runs(self) -> Iterator[UnusedCallSite]:
        """Yield those of these calls whose arguments are not known."""
        for run, _ in self._own_runs():
            name = unknown_name(self._use(run.arguments, run.call), self._scopes)
            if name is not None:
                subject = f"`{name}`" if name else "what it passes"
                yield UnusedCallSite(run.call.span, f"{subject} is known only when the code runs")

    def _own_runs(self) -> Iterator[tuple[ModuleRun, Chain]]:
        for run in self._calls.runs:
            chain = self._from_subject(run.module)
            if chain is None or self._in_subject(run.call) or self._in_model(run.call):
                continue
            if not is_meant_to_fail(run.call.node):
                yield run, chain

    def _construction(self, call: CallExpression) -> CallSite | None:
        expression = expression_of(_whole_chain(call.node))
        use = None if expression is None else self._use(expression, call)
        if use is None or (self._in_model(call) and uses_locals(use)):
            return None
        init, factory_call = at_module_level(use, self._scopes), self._enclosing_factory_call(use.scope)
        return None if init is None and factory_call is None else CallSite(call.span, init, None, factory_call)

    def _inputs(self, arguments: ScopedExpression) -> ast.Call | None:
        resolved = at_module_level(arguments, self._scopes)
        return _without_stars(resolved) if isinstance(resolved, ast.Call) else None

    def _use(self, expression: ast.expr, call: CallExpression) -> ScopedExpression:
        byte = call.node.start_byte
        return ScopedExpression(expression, self._scopes.at(byte), byte)

    def _from_subject(self, module: Chain) -> Chain | None:
        """Return the origin of a module, if it comes from the subject of the search."""
        if self._subject.is_instance:
            return module.from_instance(self._subject.names)
        start = module.start
        return module if isinstance(start, ast.Call) and dotted(start.func) in self._factories else None

    def _in_subject(self, call: CallExpression) -> bool:
        return self._subject.own is not None and _within(call.span, self._subject.own)

    def _in_model(self, call: CallExpression) -> bool:
        return any(_within(call.span, model) for model in self._models)

    def _enclosing_factory_call(self, scope: Scope) -> ast.expr | None:
        """Return a call of the enclosing function, if it creates the model.

        Only if it needs no arguments.
        """
        if scope.kind is not ScopeKind.FUNCTION or scope.parent is not self._scopes.module:
            return None
        name = field(scope.definition, "name")
        alone = {each.function for each in self._calls.returning if each.alone} & self._factories
        if name is None or text_of(name) not in alone:
            return None
        return ast.Call(ast.Name(text_of(name), ast.Load()), [], [])


def _without_stars(call: ast.Call) -> ast.Call:
    """Return ``net(x, y)`` for ``net(*(x, y))``."""
    arguments: list[ast.expr] = []
    for each in call.args:
        inner = each.value if isinstance(each, ast.Starred) else None
        arguments += inner.elts if isinstance(inner, ast.Tuple) else [each]
    return ast.Call(call.func, arguments, call.keywords)


def _whole_chain(call: Node) -> Node:
    """Return ``Net(10).to(device).eval()`` for the call ``Net(10)`` in it."""
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
