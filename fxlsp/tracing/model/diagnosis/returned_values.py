"""Values of a wrong type that a function of the model's code returned: a tuple, a list, or None without ``return``.

Python and torch name the type alone: "unsupported operand type(s) for +: 'NoneType' and 'int'".
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from types import CodeType
from typing import Any

import torch

from ....report.locations import RelatedPlace
from ..locations.bytecode.instructions import Instruction, raising_instruction
from ..locations.class_text import code_of, codes_within, local_names
from ..locations.code_origin import is_workspace_code
from ..locations.expressions import name_span
from ..locations.function_results import FunctionDefinition, FunctionResult, calls_assigned
from ..locations.source_map import CallStack, SourceMap
from .failures import text_of
from .layer_results import is_always_made, layer_of_tuples, returns_as_forward, sequence_headline

_NONE = type(None)
_TYPES: Mapping[str, type] = {"tuple": tuple, "list": list, "NoneType": _NONE}
_NAMED = re.compile(
    r"'(tuple|list|NoneType)'|\b(?:not|got|iterable) (tuple|list|NoneType)\b|^can only concatenate (tuple|list)\b"
    r"|^(tuple|list) indices"
)
_GIVEN = re.compile(r"invalid combination of arguments - got \(([^)]*)\)")
_NONE_HEADLINE = re.compile(r"[^\n]+ is None: `[^\n]*`, line ")
_AS_A_WHOLE = re.compile(r"not iterable|cannot unpack")
"""What Python says if the expression itself is what is iterated or unpacked."""
_OF_A_SUBSCRIPT = re.compile(r"\bindices must be\b|not subscriptable|does not support item assignment")
_TAKES_SEQUENCES = frozenset(
    {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "block_diag"}
)


@dataclass(frozen=True)
class RunningFunction:
    """Function that was running when an operation failed, at the instruction that it had reached."""

    code: CodeType
    offset: int
    owner: torch.nn.Module | None
    """Module whose method it is."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Its local variables, as far as they are known."""

    @property
    def instruction(self) -> Instruction:
        return Instruction(self.code, self.offset)


@dataclass(frozen=True)
class ReturnedValue:
    """Value that is used as a tensor, and the function that returned it."""

    headline: str
    related: tuple[RelatedPlace, ...]
    is_certain: bool
    """Whether the function returns such a value whatever it is given."""


@dataclass(frozen=True)
class Callee:
    """Function of the workspace that a call runs."""

    file: str
    definition: FunctionDefinition

    @property
    def result(self) -> FunctionResult:
        return FunctionResult(self.definition)


def running_functions(call_stack: CallStack, modules: Mapping[str, torch.nn.Module]) -> list[RunningFunction]:
    """Return the functions of a call stack, outermost first.

    Args:
        call_stack: The running instructions.
        modules: The modules of the model by their paths.
    """
    return [RunningFunction(code, offset, modules.get(path or "")) for code, offset, path in call_stack]


def functions_of_traceback(error: BaseException, source_map: SourceMap) -> list[RunningFunction]:
    """Return the functions of the user's code in the traceback of an exception, outermost first."""
    found, entry = [], error.__traceback__
    while entry is not None:
        code, variables = entry.tb_frame.f_code, entry.tb_frame.f_locals
        if source_map.is_shown(code.co_filename):
            owner = variables.get("self")
            module = owner if isinstance(owner, torch.nn.Module) else None
            found.append(RunningFunction(code, raising_instruction(entry).offset, module, variables))
        entry = entry.tb_next
    return found


def returned_value(
    error: BaseException, running: Sequence[RunningFunction], source_map: SourceMap
) -> ReturnedValue | None:
    """Return which function returned the tuple, list or None that an operation was given instead of a tensor.

    None if that is not known.

    Args:
        error: The exception of the operation.
        running: The functions that were running, outermost first.
        source_map: The source map of the code.
    """
    if not running or not isinstance(error, (TypeError, AttributeError)):
        return None
    here, text = running[-1], text_of(error)
    expression, statement = source_map.syntax_of(here.instruction), source_map.statement_of(here.instruction)
    kinds = _types_named(text)
    if not kinds and any(isinstance(node, (ast.BinOp, ast.AugAssign)) for node in _failing(expression, statement)):
        # torch takes a list beside a tensor for an index, and does not name it.
        kinds = {tuple, list}
    search = _Search(source_map, kinds)
    is_whole, is_subscript = _AS_A_WHOLE.search(text) is not None, _OF_A_SUBSCRIPT.search(text) is not None
    operands = _operands(expression, statement, is_whole=is_whole, is_subscript=is_subscript)
    is_only = expression is not None and len(operands) == 1
    found = {each.headline: each for operand in operands for each in search.makers(operand, running, is_only)}
    return next(iter(found.values())) if len(found) == 1 else None


@dataclass(frozen=True)
class _Search:
    """Search for the call that returned an operand of one of several types."""

    source_map: SourceMap
    kinds: set[type]

    def makers(self, operand: ast.expr, running: Sequence[RunningFunction], is_known: bool) -> Iterator[ReturnedValue]:
        """Yield what may have returned an operand of the innermost running function.

        Args:
            operand: The operand.
            running: The functions that were running, outermost first.
            is_known: Whether the value of the operand is of one of the types.
        """
        here = running[-1]
        if isinstance(operand, ast.Call):
            yield from self._returned("an operand", operand, here, is_known)
            return
        function = _definition(here.code, self.source_map)
        statement = self.source_map.statement_of(here.instruction)
        if not isinstance(operand, ast.Name) or function is None or statement is None:
            return
        name = operand.id
        if name in here.variables:
            is_known = type(here.variables[name]) in self.kinds
            if not is_known:
                return
        assigned = calls_assigned(name, statement, function)
        for call in assigned.calls:
            yield from self._returned(f"`{name}`", call, here, is_known)
        passed = self._passed(name, function, running[-2]) if assigned.is_all and len(running) > 1 else None
        if passed is not None:
            yield from self.makers(passed, running[:-1], is_known)

    def _passed(self, name: str, function: FunctionDefinition, caller: RunningFunction) -> ast.expr | None:
        """Return the expression that a caller passes as an argument."""
        call = self.source_map.syntax_of(caller.instruction)
        if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        callee = called_function(call.func, caller, self.source_map)
        if callee is None or callee.definition is not function:
            # It calls something in between, such as a Sequential, that passes on what it likes.
            return None
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        by_position = zip(names[1:] if names[:1] == ["self"] else names, call.args, strict=False)
        return next((value for each, value in by_position if each == name), None) or next(
            (each.value for each in call.keywords if each.arg == name), None
        )

    def _returned(self, what: str, call: ast.Call, here: RunningFunction, is_known: bool) -> Iterator[ReturnedValue]:
        """Yield what a call returns if that is of one of the types."""
        callee = called_function(call.func, here, self.source_map)
        if callee is None:
            layer = layer_of_tuples(call.func, here.owner) if tuple in self.kinds else None
            if layer is not None:
                is_certain = is_always_made(layer, here.owner, self.source_map)
                yield ReturnedValue(sequence_headline(what, tuple, f"layer `{layer}`", call.lineno), (), is_certain)
            return
        result = callee.result
        for kind in self.kinds:
            if result.is_always(kind) or (is_known and result.can_be(kind)):
                place = self.source_map.location(callee.file, name_span(callee.definition), None)
                yield ReturnedValue(
                    _headline(what, kind, call, callee, here),
                    (RelatedPlace(f"{callee.definition.name} is defined here", place),),
                    is_certain=result.is_always(kind) and not result.is_stub,
                )


def is_of_none(message: str) -> bool:
    """Return whether a message begins with the headline of a function that returned None."""
    return _NONE_HEADLINE.match(message) is not None


def _headline(what: str, kind: type, call: ast.Call, callee: Callee, here: RunningFunction) -> str:
    name = ast.unparse(call.func)
    if kind is not _NONE:
        return sequence_headline(what, kind, f"`{name}`", call.lineno)
    line = f"line {callee.definition.lineno}"
    if callee.file != here.code.co_filename:
        line = f"{line} of {os.path.basename(callee.file)}"
    if callee.result.is_stub:
        does = "has no body"
    elif callee.result.is_always(_NONE):
        does = "returns nothing: is a `return` missing?"
    else:
        does = "can end without a `return`"
    # As :func:`is_of_none` reads it.
    return f"{what} is None: `{name}`, {line}, {does}"


def _types_named(text: str) -> set[type]:
    """Return the types that Python or torch says an operand has, of those that are none of a tensor."""
    named = {name for match in _NAMED.finditer(text) for name in match.groups() if name}
    given = _GIVEN.search(text)
    return {_TYPES[name] for name in (*named, *re.findall(r"\w+", given[1] if given else "")) if name in _TYPES}


def _definition(code: CodeType, source_map: SourceMap) -> FunctionDefinition | None:
    return source_map.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)


def _operands(
    expression: ast.AST | None, statement: ast.stmt | None, *, is_whole: bool, is_subscript: bool
) -> list[ast.expr]:
    """Return the operands of an expression that failed; of all of its statement where Python has no columns.

    Args:
        expression: The expression, where Python has columns.
        statement: The statement that it belongs to.
        is_whole: Whether the expression itself is iterated or unpacked.
        is_subscript: Whether it is a subscript that failed.
    """
    if is_whole and isinstance(expression, ast.expr) and not _is_target(expression):
        return [expression]
    nodes = _failing(expression, statement)
    if expression is None and not is_subscript:
        nodes = (node for node in nodes if not isinstance(node, ast.Subscript))
    return [operand for node in nodes for operand in _operands_of(node, statement)]


def _failing(expression: ast.AST | None, statement: ast.stmt | None) -> Iterator[ast.AST]:
    """Yield the expression that failed; all of its statement where Python has no columns."""
    if expression is not None:
        yield expression
    elif statement is not None:
        yield from _own_nodes(statement)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a statement without those of statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        inner = ast.iter_child_nodes(node)
        waiting.extend(each for each in inner if not isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case)))


def _operands_of(node: ast.AST, statement: ast.stmt | None) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(func=called, args=args, keywords=keywords):
            owner = [called.value] if isinstance(called, ast.Attribute) else []
            takes_sequences = ast.unparse(called).rpartition(".")[2] in _TAKES_SEQUENCES
            given = [part for each in (*args, *(each.value for each in keywords)) for part in _parts(each)]
            return [*owner, *(each for each in given if not (takes_sequences and each in args))]
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.For(iter=value) | ast.UnaryOp(operand=value):
            return [value]
        case ast.Tuple() | ast.List() if _is_target(node):
            return [statement.value] if isinstance(statement, ast.Assign) else []
    return []


def _parts(argument: ast.expr) -> list[ast.expr]:
    """Return an argument, or the items of one that is written as a list or tuple."""
    return list(argument.elts) if isinstance(argument, (ast.List, ast.Tuple)) else [argument]


def _is_target(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def called_function(function: ast.expr, here: RunningFunction, source_map: SourceMap) -> Callee | None:
    """Return what a call runs: a function of the file, a method of ``self``, or a module that it holds."""
    code: CodeType | None = None
    match function:
        case ast.Name(id=name):
            definition = source_map.expressions.definition(here.code.co_filename, name)
            if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_local(name, here):
                return Callee(here.code.co_filename, definition)
            code = _iterated(name, here, source_map)
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if here.owner is not None:
            module = here.owner._modules.get(name)
            if module is not None:
                code = _forward(module)
            elif name not in vars(here.owner):
                code = code_of(getattr_static(type(here.owner), name, None))
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name)) if here.owner is not None:
            code = _forward_of_all(here.owner._modules.get(name))
    if code is None or not is_workspace_code(code.co_filename):
        return None
    definition = _definition(code, source_map)
    return None if definition is None else Callee(code.co_filename, definition)


def _is_local(name: str, here: RunningFunction) -> bool:
    return any(name in local_names(code) for code in codes_within(here.code))


def _iterated(name: str, here: RunningFunction, source_map: SourceMap) -> CodeType | None:
    """Return the code of the modules that a loop variable goes through: ``for block in self.blocks``."""
    definition = _definition(here.code, source_map)
    for node in () if definition is None or here.owner is None else ast.walk(definition):
        match node:
            case ast.For(target=ast.Name(id=target), iter=ast.Attribute(value=ast.Name(id="self"), attr=held)):
                if target == name and here.owner is not None:
                    return _forward_of_all(here.owner._modules.get(held))
    return None


def _forward_of_all(container: torch.nn.Module | None) -> CodeType | None:
    """Return the code of the ``forward`` that all modules of a container have; None if they differ."""
    codes = set() if container is None else {_forward(each) for each in container.children()}
    return codes.pop() if len(codes) == 1 else None


def _forward(module: torch.nn.Module) -> CodeType | None:
    return code_of(getattr_static(module, "forward", None)) if returns_as_forward(module) else None
