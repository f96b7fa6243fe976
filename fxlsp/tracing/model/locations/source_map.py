"""Source map: from running instructions to the source expressions they belong to.

While a trace runs, only ``(code, offset, module path)`` is recorded for each frame of the user's code; the source
expression is determined afterwards, once for each instruction.
"""

from __future__ import annotations

import ast
import os
import sys
from itertools import islice, pairwise
from types import CodeType, ModuleType

from ....report.locations import Location, Step
from .bytecode.instructions import Instruction, traceback_instructions
from .bytecode.opcodes import conditional_jumps, jump_at, loop_start
from .bytecode.spans import HAS_COLUMNS, byte_span, line_of, starts_before
from .code_origin import is_hidden
from .expressions import ByteSpan, Expressions, name_span, span_of
from .sources import Sources

CallStack = tuple[Instruction, ...]
"""Running instructions, outermost first."""


class SourceMap:
    """Mapping from running instructions to locations in the source."""

    def __init__(self, sources: Sources, expressions: Expressions) -> None:
        self._sources = sources
        self.expressions = expressions
        self._shown: dict[str, bool] = {}
        # The file is part of the key: equal code objects of different files compare equal.
        self._located: dict[tuple[str, CodeType, int], Location] = {}
        self.tracer_code: frozenset[tuple[str, CodeType]] = frozenset()
        """Code of the user's tracer class, with its files: it traces and is not traced."""

    def invalidate(self, path: str) -> None:
        """Drop what is cached of a file whose text has changed."""
        self.expressions.invalidate(path)
        self._shown.clear()
        self._located.clear()

    def is_shown(self, filename: str) -> bool:
        """Return whether frames of a file are shown: those of the user or a library.

        Not shown are torch, the standard library, fxlsp, and generated code: files that exist neither on disk nor in a
        buffer.
        """
        if filename not in self._shown:
            shown = not is_hidden(filename)
            self._shown[filename] = shown and (self._sources.is_overlay(filename) or os.path.isfile(filename))
        return self._shown[filename]

    def text_of(self, module: ModuleType) -> str:
        """Return the source of a loaded module; "" if there is none."""
        return self._sources.text(os.path.realpath(getattr(module, "__file__", None) or "")) or ""

    def locate(self, code: CodeType, offset: int) -> Location:
        """Return the location of the expression that an instruction belongs to.

        ``offset`` is in bytes from the start of ``code``.
        """
        key = (code.co_filename, code, offset)
        if key not in self._located:
            self._located[key] = self._locate(code, offset)
        return self._located[key]

    def _locate(self, code: CodeType, offset: int) -> Location:
        place = byte_span(code, offset)
        if place is None:
            return self.line(code.co_filename, line_of(code, offset), code.co_name)
        tested = self._tested(code, offset, place)
        if tested is not None:
            return self.location(code.co_filename, span_of(tested), code.co_name)
        # First, because a generator expression ends where the call ends whose only argument it is.
        iterated = self._iterated(code, offset, place)
        if iterated is not None:
            return self.location(code.co_filename, iterated, code.co_name)
        node = self.expressions.enclosing(code.co_filename, place)
        if node is None:
            around = self.expressions.entered(code.co_filename, place)
            place = around or self.expressions.formatted(code.co_filename, place) or place
        return self.location(code.co_filename, place if node is None else span_of(node), code.co_name)

    def _iterated(self, code: CodeType, offset: int, place: ByteSpan) -> ByteSpan | None:
        """Return the span that a loop or comprehension iterates over.

        ``offset`` is that of the instruction which starts the loop. None for other instructions.
        """
        loop = loop_start(code, offset)
        if loop is None:
            return None
        # A comprehension that is a function receives its first iterator.
        given = code.co_name if loop.makes_iterator else ""
        return self.expressions.iterated(code.co_filename, place, loop.number, given)

    def _tested(self, code: CodeType, offset: int, place: ByteSpan) -> ast.expr | None:
        """Return the condition that a jump with the span of its whole statement tests.

        It does so for conditions that are no comparisons. ``a and not b`` has one jump for each operand, in this order.
        """
        jump = jump_at(code, offset)
        if jump is None:
            return None
        statement = self.expressions.statement_at(code.co_filename, place.line, place.column)
        tests = [] if statement is None else self.expressions.conditions(statement, place)
        if not tests:
            # Since CPython 3.12 the jump on a variable has its span, which ends where ``and`` or ``or`` around it does.
            return self.expressions.name_at(code.co_filename, place)
        jumps = conditional_jumps(code, place)
        # The condition of a loop is compiled twice: before the loop, and at its end.
        if jump not in jumps or len(jumps) % len(tests):
            return None
        return tests[jumps.index(jump) % len(tests)]

    def location(self, filename: str, span: ByteSpan, function: str | None) -> Location:
        """Return a span in the coordinates of a report."""
        column = self._sources.code_points(filename, span.line, span.column)
        end_column = self._sources.code_points(filename, span.end_line, span.end_column)
        return Location(filename, span.line, column, span.end_line, end_column, function)

    def of_return(self, instruction: Instruction, at_end: bool) -> Location | None:
        """Return the location of the ``return`` that ended a function, if any.

        ``instruction`` is the last one of the function that ran. The code of ``with`` and ``finally`` that runs after
        the ``return`` follows it, so it is the last ``return`` before the instruction. ``at_end`` accepts only a
        ``return`` at the instruction itself.
        """
        code, offset, _ = instruction
        for line, column in islice(starts_before(code, offset), 1 if at_end else None):
            statement = self.expressions.statement_at(code.co_filename, line, column)
            if isinstance(statement, ast.Return):
                if not HAS_COLUMNS:
                    return self.line(code.co_filename, line, code.co_name)
                return self.location(code.co_filename, span_of(statement), code.co_name)
        return None

    def only_return(self, code: CodeType) -> Location | None:
        """Return the location of a function's only ``return``; None if it has several."""
        if not self.is_shown(code.co_filename):
            return None
        function = self.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        returns = [] if function is None else [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        return self.location(code.co_filename, span_of(returns[0]), code.co_name) if len(returns) == 1 else None

    def attribute_in(self, instruction: Instruction, name: str) -> Location | None:
        """Return the location of ``... .name`` in the expression of an instruction.

        None unless exactly one attribute of that name is in it.
        """
        node = self.syntax_of(instruction)
        if node is None:
            return None
        attributes = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == name]
        return self._part(instruction, attributes[0]) if len(attributes) == 1 else None

    def element_of_target(self, instruction: Instruction, index: int) -> Location | None:
        """Return the location of the target at ``index`` of ``a, b = ...``.

        None unless the instruction unpacks into such targets.
        """
        node = self.syntax_of(instruction)
        if not isinstance(node, (ast.Tuple, ast.List)) or not isinstance(node.ctx, ast.Store):
            return None
        return self._part(instruction, node.elts[index]) if 0 <= index < len(node.elts) else None

    def syntax_of(self, instruction: Instruction) -> ast.AST | None:
        """Return the syntax node that an instruction belongs to.

        None before Python 3.11 and if there is no source.
        """
        place = byte_span(instruction.code, instruction.offset)
        return None if place is None else self.expressions.enclosing(instruction.code.co_filename, place)

    def statements_around(self, instruction: Instruction) -> list[tuple[ast.stmt, ast.stmt]]:
        """Return pairs of nested statements around an instruction, outermost first.

        Each pair is a statement and the one directly inside it that contains the instruction.
        """
        code, offset, _ = instruction
        place = byte_span(code, offset)
        line, column = (line_of(code, offset), None) if place is None else (place.line, place.column)
        around = self.expressions.statements_at(code.co_filename, line, column)
        return list(pairwise(around))

    def statement_of(self, instruction: Instruction) -> ast.stmt | None:
        """Return the innermost statement that contains an instruction.

        Before Python 3.11 there are no columns, and it is the first of several statements on the same line.
        """
        code, offset, _ = instruction
        place = byte_span(code, offset)
        line, column = (line_of(code, offset), None) if place is None else (place.line, place.column)
        return self.expressions.statement_at(code.co_filename, line, column)

    def _part(self, instruction: Instruction, node: ast.AST) -> Location:
        code = instruction.code
        return self.location(code.co_filename, span_of(node), code.co_name)

    def line(self, filename: str, line: int, function: str | None) -> Location:
        """Return the location of the code on one line, used where columns are unknown."""
        lines = self._sources.lines(filename)
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        start = len(text) - len(text.lstrip()) + 1
        return Location(filename, line, start, line, max(len(text.rstrip()) + 1, start), function)

    def steps(self, call_stack: CallStack) -> tuple[Step, ...]:
        """Return the calling expressions of a call stack, outermost first."""
        return tuple(Step(self.locate(code, offset), path) for code, offset, path in call_stack)

    def of_traceback(self, error: BaseException) -> tuple[Location, ...]:
        """Return the shown locations of an exception's traceback, outermost first."""
        return tuple(self.locate(code, offset) for code, offset in self.raised_by(error))

    def raised_by(self, error: BaseException) -> list[tuple[CodeType, int]]:
        """Return code and byte offset of an exception's shown frames, outermost first.

        Frames of the user's tracer are left out unless there are no others.
        """
        passed = traceback_instructions(error.__traceback__)
        shown = [(code, offset) for code, offset in passed if self.is_shown(code.co_filename)]
        traced = [(code, offset) for code, offset in shown if (code.co_filename, code) not in self.tracer_code]
        return traced or shown

    def of_definition(self, code: CodeType) -> Location | None:
        """Return the location of the name in the ``def`` of ``code``; None without source."""
        if not self.is_shown(code.co_filename):
            return None
        function = self.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        if function is None:
            return self.line(code.co_filename, code.co_firstlineno, code.co_name)
        return self.location(code.co_filename, name_span(function), code.co_name)

    def of_decorator(self, code: CodeType) -> Location | None:
        """Return the location of the last decorator of the ``def`` of ``code``.

        That is the one that receives the function itself. None if there is no decorator or source.
        """
        if not self.is_shown(code.co_filename):
            return None
        function = self.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        if function is None or not function.decorator_list:
            return None
        return self.location(code.co_filename, span_of(function.decorator_list[-1]), code.co_name)

    def of_class(self, cls: type) -> Location | None:
        """Return the location of the name in a class statement; None without source."""
        path = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if path is None or not self.is_shown(os.path.realpath(path)):
            return None
        return self.of_name(os.path.realpath(path), cls.__qualname__)

    def of_name(self, path: str, qualname: str) -> Location | None:
        """Return the location of the name where a file defines a class or function.

        The qualified name is dotted if the definition is nested.
        """
        definition = self.expressions.definition(path, qualname)
        if definition is None:
            return None
        return self.location(path, name_span(definition), None)

    def of_parameter(self, code: CodeType, name: str) -> Location | None:
        """Return the location of the parameter ``name`` in the ``def`` of ``code``."""
        if not self.is_shown(code.co_filename):
            return None
        function = self.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        if function is None:
            return None
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        for argument in every:
            if argument.arg == name:
                return self.location(code.co_filename, span_of(argument), code.co_name)
        return None
