"""Inputs that the graph handles differently from ``forward`` (FX302, FX318)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import MethodType

import torch
import torch.fx

from .....report.codes import OPTIONAL_INPUT, VARIADIC_INPUT
from .....report.problems import Problem
from ....model.capture.tracer import TracedCall, forward_code
from ....model.locations.class_text import code_of
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction
from ..base.pass_result import PassResult


class OptionalInputs(Check):
    """Check for comparisons with None of inputs whose default is None."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        code = forward_code(traced.root)
        forward = None if code is None else traced.executed.with_code(code)
        if forward is None:
            return
        names = optional_parameters(forward)
        for name in names:
            flow = _InputFlow(traced, name)
            flow.follow(forward, traced.root, name)
            flow.follow_calls()
            for function, test in flow.tests:
                message = (
                    f"The input {name} is None unless it is passed, but torch.fx traces forward with a value in its "
                    f"place: the graph holds what follows if it is given, whether it is or not."
                )
                path = next(iter(function.modules), "")
                yield traced.problem(OPTIONAL_INPUT, message, traced.executed.location(function, test), path)


def optional_parameters(function: ExecutedFunction) -> list[str]:
    """Return the parameters of a function whose default is None."""
    arguments = function.definition.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return [parameter.arg for parameter, default in pairs if _is_none(default)]


class _InputFlow:
    """Propagation of one input: its names in functions and modules that receive it."""

    def __init__(self, traced: PassResult, name: str) -> None:
        self.tests: list[tuple[ExecutedFunction, ast.Compare]] = []
        self._traced = traced
        self._name = name
        self._seen: set[tuple[object, int, str]] = set()

    def follow(self, function: ExecutedFunction, module: torch.nn.Module | None, name: str) -> None:
        """Add the tests of the value in ``function`` and in the functions that it calls.

        Args:
            function: A function that has the value.
            module: The module whose method it is.
            name: The local name of the value.
        """
        key = (function.key, id(module), name)
        if key in self._seen:
            return
        self._seen.add(key)
        end = _rebound_at(function, name)
        harmless = _required_tests(function)
        for test in function.parts(ast.Compare):
            if _compares_with_none(test, name) and _starts(test) < end and id(test) not in harmless:
                self.tests.append((function, test))
        for call in function.parts(ast.Call):
            if _starts(call) < end:
                self._follow_call(function, module, call, name)

    def follow_calls(self) -> None:
        """Continue in the modules that were called with the value."""
        for call in self._traced.tracer.calls:
            if not call.leaf:
                for index, argument in enumerate(call.arguments):
                    if self._is_input(argument):
                        self._follow_module_call(call, index)

    def _is_input(self, value: object) -> bool:
        if not isinstance(value, torch.fx.Proxy) or isinstance(value, torch.fx.proxy.Attribute):
            return False
        node = value.node
        return node.op == "placeholder" and node.target == self._name

    def _follow_module_call(self, call: TracedCall, index: int) -> None:
        code = forward_code(call.module)
        forward = None if code is None else self._traced.executed.with_code(code)
        if forward is None:
            return
        keywords = self._keywords_of(call)
        positional = len(call.arguments) - len(keywords)
        parameters = _parameters(forward)[1:]
        name: str | None
        if index >= positional:
            name = keywords[index - positional]
        else:
            name = parameters[index] if index < len(parameters) else None
        if name is not None:
            self.follow(forward, call.module, name)

    def _keywords_of(self, call: TracedCall) -> list[str | None]:
        """Return the names of a module call's keyword arguments, from its text."""
        if not call.call_stack:
            return []
        code, offset, _ = call.call_stack[-1]
        function = self._traced.executed.with_code(code)
        place = self._traced.places.locate(code, offset)
        for written in function.parts(ast.Call) if function is not None else []:
            if function is not None and self._traced.executed.location(function, written) == place:
                return [keyword.arg for keyword in written.keywords]
        return []

    def _follow_call(
        self, function: ExecutedFunction, module: torch.nn.Module | None, call: ast.Call, name: str
    ) -> None:
        """Continue in a function that is called with the value."""
        passed = [index for index, argument in enumerate(call.args) if _is_name(argument, name)]
        named = [keyword.arg for keyword in call.keywords if keyword.arg and _is_name(keyword.value, name)]
        if not passed and not named:
            return
        called = function.resolve(call.func, module)
        code = code_of(called)
        helper = None if code is None else self._traced.executed.with_code(code)
        if helper is None:
            return
        parameters = _parameters(helper)[1 if isinstance(called, MethodType) else 0 :]
        for inner in [*(parameters[index] for index in passed if index < len(parameters)), *named]:
            self.follow(helper, module, inner)


class VariadicInputs(Check):
    """Check for ``*args`` and ``**kwargs`` of the root."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        code = forward_code(traced.root)
        for node in traced.tracer.graph.nodes:
            name = str(node.target)
            if code is not None and node.op == "placeholder" and name.startswith("*") and node.users:
                message = f"{name} is one input of the graph, whatever number of arguments forward is called with."
                location = traced.places.of_parameter(code, name.lstrip("*"))
                yield traced.problem(VARIADIC_INPUT, message, location, "")


def _parameters(function: ExecutedFunction) -> list[str]:
    arguments = function.definition.args
    return [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]


def _rebound_at(function: ExecutedFunction, name: str) -> tuple[int, int]:
    """Return the position where the function unconditionally rebinds the name."""
    for statement in function.definition.body:
        if isinstance(statement, ast.Assign) and any(_is_name(target, name) for target in statement.targets):
            return (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)
    return (sys.maxsize, 0)


def _required_tests(function: ExecutedFunction) -> set[int]:
    """Return the ``id`` of tests that end the function if the input is not given.

    Such an input is not optional.
    """
    found = {id(part) for asserted in function.parts(ast.Assert) for part in ast.walk(asserted.test)}
    for branch in function.parts(ast.If):
        if isinstance(branch.body[-1], ast.Raise):
            found |= {id(part) for part in ast.walk(branch.test)}
    return found


def _compares_with_none(test: ast.Compare, name: str) -> bool:
    if len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return False
    sides = (test.left, test.comparators[0])
    return any(_is_name(side, name) for side in sides) and any(_is_none(side) for side in sides)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _starts(node: ast.expr) -> tuple[int, int]:
    return (node.lineno, node.col_offset)
