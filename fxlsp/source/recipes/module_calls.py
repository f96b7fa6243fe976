"""The calls of a file that may create or run a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.python.bindings import parameter_defaults
from fxlsp.source.python.class_statements import with_decorators
from fxlsp.source.python.expressions import LONGEST_EXPRESSION, dotted, parse_expression
from fxlsp.source.python.imports import imported_names
from fxlsp.source.python.inlining import Chain, ScopedExpression, chain_of
from fxlsp.source.python.scopes import Scope, ScopeKind, Scopes, scopes_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import ancestors, captures, dotted_name, field, first_part, span_of, text_of

_OF_THE_CLASS = ("@classmethod", "@staticmethod")


class CallExpression(NamedTuple):
    """Call expression and its span."""

    node: Node
    span: Span


class ModuleRun(NamedTuple):
    """Call that may run a module: ``net(x)`` or ``torch.jit.trace(net, x)``."""

    call: CallExpression
    module: Chain
    arguments: ast.Call
    """A call with the arguments of the module; its callee is the constant None."""


class ReturningFunction(NamedTuple):
    """Function that returns the result of another call."""

    function: str
    called: frozenset[str | None]
    """The dotted names of the callees whose results it returns, None for other values."""
    alone: bool
    """Whether it can be called without arguments."""


class FileCalls(NamedTuple):
    """Calls of one file."""

    by_name: dict[str, list[CallExpression]]
    """By the dotted name of the callee, in text order."""
    runs: list[ModuleRun]
    returning: list[ReturningFunction]


def calls_of(document: Document) -> FileCalls:
    """Return the calls of a document, collected once."""
    return document.derive(_find_calls)


def _find_calls(document: Document) -> FileCalls:
    root, scopes = document.tree.root_node, scopes_of(document)
    imports = imported_names(root)
    by_name: dict[str, list[CallExpression]] = {}
    runs: list[ModuleRun | None] = []
    for node in captures(root, "(call) @call").get("call", []):
        call = CallExpression(node, span_of(node, document.lines))
        name = dotted_name(field(node, "function"))
        if name is not None:
            by_name.setdefault(name, []).append(call)
        function = name and imports.resolve(name)
        if function and runs_modules(function):
            runs.append(_run_by_function(call, function, scopes))
        else:
            runs.append(_direct_run(call, scopes))
    return FileCalls(by_name, [run for run in runs if run is not None], list(_returning_functions(root, scopes)))


def _direct_run(call: CallExpression, scopes: Scopes) -> ModuleRun | None:
    """Return the run of ``net`` in ``net(x)`` or ``net.forward(x)``, if any."""
    callee = field(call.node, "function")
    if callee is not None and callee.type == "attribute" and _attribute(callee) == "forward":
        callee = field(callee, "object")
    of_self = callee is not None and callee.type == "attribute" and text_of(callee).startswith("self.")
    if callee is None or not (of_self or callee.type in ("identifier", "call", "parenthesized_expression")):
        return None
    module = ast.Name(text_of(callee), ast.Load()) if callee.type == "identifier" else expression_of(callee)
    chain = None if module is None else _chain(module, call, scopes)
    expression = None if chain is None else expression_of(call.node)
    if chain is None or not isinstance(expression, ast.Call):
        return None
    return ModuleRun(call, chain, _nameless_call(expression.args, expression.keywords))


def _run_by_function(call: CallExpression, function: str, scopes: Scopes) -> ModuleRun | None:
    """Return the run in ``torch.jit.trace(net, x)``, where ``function`` runs modules."""
    expression = expression_of(call.node)
    given = given_module(expression, function) if isinstance(expression, ast.Call) else None
    chain = None if given is None else _chain(given.module, call, scopes)
    if given is None or chain is None:
        return None
    return ModuleRun(call, chain, _nameless_call(_unpacked(given.arguments, call, scopes), []))


def _unpacked(arguments: list[ast.expr], call: CallExpression, scopes: Scopes) -> list[ast.expr]:
    """Return the arguments, with a star before the only one if that is the name of a tuple of them."""
    if len(arguments) != 1 or not isinstance(arguments[0], ast.Name):
        return arguments
    byte = call.node.start_byte
    start = chain_of(ScopedExpression(arguments[0], scopes.at(byte), byte), scopes).start
    return [ast.Starred(arguments[0], ast.Load())] if isinstance(start, ast.Tuple) else arguments


def _chain(module: ast.expr, call: CallExpression, scopes: Scopes) -> Chain | None:
    """Return the origin of a module, if the file states it."""
    byte = call.node.start_byte
    chain = chain_of(ScopedExpression(module, scopes.at(byte), byte), scopes)
    return chain if isinstance(chain.start, ast.Call) or len(chain.uses) > 1 else None


def _nameless_call(arguments: list[ast.expr], keywords: list[ast.keyword]) -> ast.Call:
    return ast.Call(ast.Constant(value=None), arguments, keywords)


def expression_of(node: Node) -> ast.expr | None:
    """Return the expression of a node; None for one too long to be written by hand."""
    # Reading the text of each of a thousand nested calls would take quadratic time.
    return parse_expression(text_of(node)) if node.end_byte - node.start_byte <= LONGEST_EXPRESSION else None


def _attribute(node: Node) -> str | None:
    attribute = field(node, "attribute")
    return None if attribute is None else text_of(attribute)


def _returning_functions(root: Node, scopes: Scopes) -> Iterator[ReturningFunction]:
    """Yield top-level functions, class and static methods that return a value."""
    found: dict[str, tuple[Node, set[str | None]]] = {}
    for node in captures(root, "(return_statement) @return").get("return", []):
        scope, value = scopes.at(node.start_byte), first_part(node)
        name = _factory_name(scope, scopes)
        if name is None or value is None or _is_behind_switch(node, scope.definition):
            continue
        expression = expression_of(value)
        start = (
            None if expression is None else chain_of(ScopedExpression(expression, scope, node.start_byte), scopes).start
        )
        called = dotted(start.func) if isinstance(start, ast.Call) else None
        owner, _, method = name.rpartition(".")
        found.setdefault(name, (scope.definition, set()))[1].add(owner if method and called == "cls" else called)
    for function, (definition, names) in found.items():
        yield ReturningFunction(function, frozenset(names), _can_be_called_alone(definition))


def _factory_name(scope: Scope, scopes: Scopes) -> str | None:
    """Return ``make`` for a top-level function, ``Net.small`` for a class method.

    None for other scopes.
    """
    name, owner = field(scope.definition, "name"), scope.parent
    if scope.kind is not ScopeKind.FUNCTION or name is None or owner is None:
        return None
    if owner is scopes.module:
        return text_of(name)
    class_name = field(owner.definition, "name")
    if owner.kind is not ScopeKind.CLASS or owner.parent is not scopes.module or class_name is None:
        return None
    decorators = with_decorators(scope.definition).children
    is_class_level = any(each.type == "decorator" and text_of(each) in _OF_THE_CLASS for each in decorators)
    return f"{text_of(class_name)}.{text_of(name)}" if is_class_level else None


def _is_behind_switch(statement: Node, function: Node) -> bool:
    """Return whether a statement runs only if a flag is set.

    For example ``if verbose: return model, log``.
    """
    switches = {text_of(name) for name, value in parameter_defaults(function) if value in ("False", "None")}
    for parent in ancestors(statement):
        if parent == function:
            return False
        condition = field(parent, "condition") if parent.type == "if_statement" else None
        body = field(parent, "consequence")
        inside = body is not None and body.start_byte <= statement.start_byte < body.end_byte
        if condition is not None and inside and text_of(condition) in switches:
            return True
    return False


def _can_be_called_alone(definition: Node) -> bool:
    statement = with_decorators(definition)
    decorators = [text_of(child) for child in statement.children if child.type == "decorator"]
    # pytest rejects a direct call of a fixture.
    plain = not any("fixture" in decorator for decorator in decorators)
    defaults = parameter_defaults(definition)
    return plain and definition.children[0].type != "async" and all(value is not None for _, value in defaults)


_TAKING_ARGUMENTS = {
    "torch.jit.trace": "example_inputs",
    "torch.onnx.export": "args",
    "torch.export.export": "args",
    "fvcore.nn.FlopCountAnalysis": "inputs",
    "thop.profile": "inputs",
}
"""Functions whose parameter after the module is its argument, or a tuple of them; with the name of the parameter."""

_TAKING_SIZES = {"torchinfo.summary": (), "torchsummary.summary": (2,), "ptflops.get_model_complexity_info": (1,)}
"""Functions whose parameter after the module is the size of its input; with the batch dimensions they prepend."""

_SIZES = ("input_size", "input_res")


class GivenModule(NamedTuple):
    """Module passed to a function, and the arguments with which that calls it."""

    module: ast.expr
    arguments: list[ast.expr]


def runs_modules(function: str) -> bool:
    """Return whether a function, by its full dotted name, runs a module passed to it."""
    return function in _TAKING_ARGUMENTS or function in _TAKING_SIZES


def given_module(call: ast.Call, function: str) -> GivenModule | None:
    """Return the module and its arguments in a call of such a function, if stated."""
    if function in _TAKING_SIZES:
        size = _second(call, _SIZES)
        arguments = [] if size is None else [_random(each, _TAKING_SIZES[function]) for each in _sizes(size)]
    else:
        given = _second(call, (_TAKING_ARGUMENTS[function],))
        arguments = given.elts if isinstance(given, ast.Tuple) else [given] if given is not None else []
    return GivenModule(call.args[0], arguments) if call.args and arguments else None


def _second(call: ast.Call, names: tuple[str, ...]) -> ast.expr | None:
    """Return the second argument, passed by position or by one of its names."""
    if len(call.args) > 1:
        return call.args[1]
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def _sizes(given: ast.expr) -> list[ast.expr]:
    """Return the sizes in an argument: one, or a list of several."""
    if isinstance(given, (ast.Tuple, ast.List)) and any(isinstance(each, (ast.Tuple, ast.List)) for each in given.elts):
        return given.elts
    return [given]


def _random(size: ast.expr, batch: tuple[int, ...]) -> ast.expr:
    """Return ``torch.randn(1, 3, 8, 8)`` for size ``(3, 8, 8)`` and batch ``(1,)``."""
    numbers = size.elts if isinstance(size, (ast.Tuple, ast.List)) else [ast.Starred(size, ast.Load())]
    randn = ast.Attribute(ast.Name("torch", ast.Load()), "randn", ast.Load())
    return ast.Call(randn, [*map(ast.Constant, batch), *numbers], [])
