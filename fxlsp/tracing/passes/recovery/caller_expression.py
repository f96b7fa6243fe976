"""Source expression that calls into a proxy, determined from the running frame."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from types import FrameType, ModuleType
from typing import Any

from ...isolation.torch_private.modules import is_native
from ...model.locations.bytecode.instructions import Instruction, instruction_of
from ...model.locations.bytecode.opcodes import accesses_item, matches_class, writes_item
from ...model.locations.bytecode.spans import HAS_COLUMNS
from ...model.locations.source_map import SourceMap


class _Unresolved:
    """Type of :data:`UNRESOLVED`, the value of an expression known only by running it."""


UNRESOLVED = _Unresolved()

_DIAGNOSTIC_CALLS = frozenset(
    {"print", "warn", "warning", "debug", "info", "error", "critical", "exception", "log", "write", "_assert"}
)


class CallerExpression:
    """Expression that is running in a frame."""

    def __init__(self, places: SourceMap, frame: FrameType) -> None:
        self._places = places
        self._frame = frame
        self.is_shown = places.is_shown(frame.f_code.co_filename)
        """Whether it is code of the user or a library, not of torch or the standard library."""

    @property
    def instruction(self) -> Instruction:
        return instruction_of(self._frame)

    @property
    def syntax(self) -> ast.AST | None:
        """The syntax node; None before Python 3.11 and where there is no source."""
        return self._places.syntax_of(self.instruction) if self.is_shown else None

    def called(self) -> str:
        """Return the name of the function that the expression calls, else "".

        Python 3.10 has no columns: there it is the only call on the line, if there is only one.
        """
        call = self.call()
        if call is None:
            return ""
        return _name_of(call)

    def call(self) -> ast.Call | None:
        """Return the call that is running."""
        syntax = self.syntax
        if isinstance(syntax, ast.Call):
            return syntax
        if syntax is None and self.is_shown and not HAS_COLUMNS:
            statement = self._places.statement_of(self.instruction)
            line = self._places.locate(*self.instruction[:2]).line
            nodes = () if statement is None else ast.walk(statement)
            calls = [node for node in nodes if isinstance(node, ast.Call) and _holds_line(node, line)]
            return calls[0] if len(calls) == 1 else None
        return None

    def class_pattern(self) -> ast.MatchClass | None:
        """Return the ``case Class():`` that is being matched."""
        statement = self._places.statement_of(self.instruction)
        place = self._places.locate(*self.instruction[:2])
        for node in ast.walk(statement) if statement is not None else ():
            if isinstance(node, ast.MatchClass) and (node.lineno, node.end_lineno) == (place.line, place.end_line):
                return node
        return None

    def identity_test(self) -> tuple[ast.Compare, ast.expr] | None:
        """Return ``a.b is c`` around the running ``a.b``, with its other operand."""
        syntax = self.syntax
        statement = None if syntax is None else self._places.statement_of(self.instruction)
        for node in ast.walk(statement) if statement is not None else ():
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                operands = (node.left, node.comparators[0])
                if any(operand is syntax for operand in operands):
                    return node, operands[operands[0] is syntax]
        return None

    def is_subscript(self) -> bool:
        """Return whether an item of something is read, written or deleted."""
        return accesses_item(self.instruction)

    def stores(self) -> bool:
        """Return whether an item of something is written."""
        return writes_item(self.instruction)

    def matches_class(self) -> bool:
        """Return whether it is the ``case Class():`` of a ``match``."""
        return matches_class(self.instruction)

    def is_slice(self) -> bool:
        """Return whether the expression takes a slice."""
        syntax = self.syntax
        return isinstance(syntax, ast.Subscript) and any(isinstance(part, ast.Slice) for part in ast.walk(syntax.slice))

    def is_diagnostic(self) -> bool:
        """Return whether the statement only prints, logs, warns, asserts or raises."""
        statement = self._places.statement_of(self.instruction) if self.is_shown else None
        if isinstance(statement, (ast.Raise, ast.Assert)):
            return True
        place = self._places.locate(*self.instruction[:2])
        calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call)) if statement is not None else ()
        return any(_name_of(call) in _DIAGNOSTIC_CALLS and _holds_line(call, place.line) for call in calls)

    def resolved(self, node: ast.expr) -> Any:
        """Return the value of a name, or of a module's or class's attribute, in the frame.

        ``UNRESOLVED`` if it is neither.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            scopes: tuple[Mapping[str, Any], ...] = (self._frame.f_locals, self._frame.f_globals, vars(builtins))
            return next((scope[node.id] for scope in scopes if node.id in scope), UNRESOLVED)
        if isinstance(node, ast.Attribute):
            owner = self.resolved(node.value)
            if isinstance(owner, (ModuleType, type)):
                return getattr(owner, node.attr, UNRESOLVED)
        if isinstance(node, ast.Tuple):
            items = tuple(self.resolved(item) for item in node.elts)
            return UNRESOLVED if any(item is UNRESOLVED for item in items) else items
        return UNRESOLVED

    def calls_torch(self) -> bool:
        """Return whether it calls torch, whose argument parsers need not convert numbers."""
        call = self.call()
        if call is None:
            return False
        function = self.resolved(call.func)
        if function is UNRESOLVED:
            return self.called() != "range"
        owner = str(getattr(function, "__module__", None) or type(function).__module__)
        return owner.partition(".")[0] == "torch" or is_native(function)


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _holds_line(node: ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
