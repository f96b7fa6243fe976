"""Expressions that are tensors whatever the model is given, by the text of the functions that ran.

An input of a model that was guessed to be a tensor may be an array, or an object of the user's. What a function of
torch, a layer with parameters or a method that only tensors have returned is a tensor with each input.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any, NamedTuple

import torch

from .class_text import Function, code_of, function_at, tree_of
from .code_origin import is_ours, is_torch

_SHARED = frozenset(
    {
        *("all", "any", "argmax", "argmin", "argsort", "byte", "clip", "clone", "conj", "contiguous", "cpu"),
        *("cuda", "cumprod", "cumsum", "data", "detach", "diagonal", "dim", "dot", "double", "flatten", "flip"),
        *("float", "half", "imag", "index_select", "int", "item", "long", "max", "mean", "min", "mT"),
        *("nonzero", "numpy", "pin_memory", "prod", "ravel", "real", "repeat", "requires_grad_", "reshape"),
        *("resize", "round", "size", "sort", "split", "squeeze", "std", "sum", "swapaxes", "T", "take", "to"),
        *("tolist", "trace", "transpose", "type", "values", "var", "view"),
    }
)
"""Methods and attributes of tensors that arrays and other objects have, too."""
_MOST = 200
"""How many expressions are looked at."""


class Entry(NamedTuple):
    """A frame of a traceback with the line that it ran."""

    frame: FrameType
    line: int
    is_direct: bool
    """Whether nothing of torch came between the entry before it and this one."""


def entries_of(error: BaseException) -> list[Entry]:
    """Return the frames of the user's code and its packages in the traceback of an error, outermost first."""
    found: list[Entry] = []
    is_direct, entry = True, error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        is_passed = is_torch(file) or is_ours(file)
        if not is_passed:
            found.append(Entry(entry.tb_frame, entry.tb_lineno, is_direct))
        is_direct, entry = not is_passed, entry.tb_next
    return found


class ComputedTensors:
    """The tensors that the functions of a traceback computed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._running: set[tuple[int, str, int]] = set()
        self._left = _MOST
        self._trees = {file: tree_of(file) for file in {entry.frame.f_code.co_filename for entry in entries}}

    def has(self, expression: ast.expr, level: int) -> bool:
        """Return whether an expression of the function at a level of the traceback is no input of the model.

        An expression that is reached again, in a loop, is what the others make it.
        """
        self._left -= 1
        if self._left < 0:
            return False
        match expression:
            case ast.BinOp(left=left, right=right):
                return self.has(left, level) or self.has(right, level)
            case ast.IfExp(body=body, orelse=other):
                return self.has(body, level) and self.has(other, level)
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value) | ast.NamedExpr(value=value):
                return self.has(value, level)
            case ast.Call():
                return self._is_returned(expression, level)
            case ast.Attribute(value=value, attr=name):
                owner = _value_of(value, self._entries[level].frame)
                if isinstance(owner, torch.nn.Module):
                    return name in {**owner._parameters, **owner._buffers}
                return name in _SHARED and self.has(value, level)
            case ast.Name(id=name):
                return self._is_bound(name, expression.lineno, level)
        return False

    def _is_returned(self, call: ast.Call, level: int) -> bool:
        called = _value_of(call.func, self._entries[level].frame)
        if isinstance(called, torch.nn.Module):
            return _makes_tensors(called)
        if not isinstance(call.func, ast.Attribute):
            return _is_of_torch(called)
        owner = _value_of(call.func.value, self._entries[level].frame)
        if isinstance(owner, ModuleType):
            return _is_of_torch(called)
        name, is_known = call.func.attr, owner is None or isinstance(owner, torch.Tensor)
        if not is_known or not is_of_tensors_alone(name, self._trees[self._entries[level].frame.f_code.co_filename]):
            return False
        if isinstance(call.func.value, ast.Attribute) or name in _SHARED:
            # An array takes all of its axes at once, or none.
            is_exchange = name == "transpose" and len(call.args) == 2 and isinstance(owner, torch.Tensor)
            return is_exchange or self.has(call.func.value, level)
        return True

    def _is_bound(self, name: str, line: int, level: int) -> bool:
        """Return whether all that a variable may be at a line is computed."""
        key = (level, name, line)
        if key in self._running:
            return True
        self._running.add(key)
        is_computed = self._is_computed(name, line, level)
        self._running.discard(key)
        return is_computed

    def _is_computed(self, name: str, line: int, level: int) -> bool:
        code = self._entries[level].frame.f_code
        function = function_at(self._trees[code.co_filename], self._entries[level].line, code.co_name)
        if function is None:
            return False
        nodes = list(ast.walk(function))
        stores = [each for each in nodes if isinstance(each, ast.Name) and each.id == name]
        stores = [each for each in stores if not isinstance(each.ctx, ast.Load)]
        values = dict(_assigned(nodes, stores))
        simple = [each for each in function.body if isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value]
        before = [each for each in simple if (each.end_lineno or 0) < line]
        last = max((each.lineno for each in before if any(map(values.get, ast.walk(each)))), default=0)
        is_repeated = any(isinstance(each, (ast.For, ast.AsyncFor, ast.While)) for each in nodes)
        possible = [each for each in stores if each.lineno >= last and (each.lineno < line or is_repeated)]
        if not all(each in values and self.has(values[each], level) for each in possible):
            return False
        is_given = last == 0 and any(isinstance(each, ast.arg) and each.arg == name for each in nodes)
        return self._is_passed(name, level) if is_given else bool(possible)

    def _is_passed(self, name: str, level: int) -> bool:
        """Return whether an argument of a function was computed by its caller."""
        frame, _, is_direct = self._entries[level]
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if level == 0 or name not in names:
            return False
        caller = self._entries[level - 1]
        calls = [
            each
            for each in calls_at(self._trees[caller.frame.f_code.co_filename], caller.line)
            if _calls_code(each, caller.frame, frame, is_direct)
        ]
        passed = [_argument(each, name, frame) for each in calls]
        return bool(passed) and all(each is not None and self.has(each, level - 1) for each in passed)


def is_of_tensors_alone(name: str, tree: ast.Module) -> bool:
    """Return whether a name is that of a method of tensors, and of no function in a file."""
    if not callable(getattr(torch.Tensor, name, None)):
        return False
    return not any(isinstance(each, Function) and each.name == name for each in ast.walk(tree))


def calls_at(tree: ast.Module, line: int) -> Iterator[ast.Call]:
    """Yield the calls that are written at a line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0):
            yield node


def _calls_code(call: ast.Call, caller: FrameType, frame: FrameType, is_direct: bool) -> bool:
    called = _value_of(call.func, caller)
    if isinstance(called, torch.nn.Module):
        return not is_direct and called is frame.f_locals.get("self") and frame.f_code.co_name == "forward"
    if not is_direct:
        return False
    return frame.f_code.co_name == getattr(call.func, "attr", getattr(call.func, "id", None))


def _argument(call: ast.Call, name: str, frame: FrameType) -> ast.expr | None:
    """Return the expression that a call passes as an argument; None if that is not known."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = list(frame.f_code.co_varnames[: frame.f_code.co_argcount])
    if names[:1] == ["self"]:
        is_written = bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == "self"
        names = names if is_written else names[1:]
    index = names.index(name) if name in names else len(call.args)
    return call.args[index] if index < len(call.args) else None


def _value_of(expression: ast.expr, frame: FrameType) -> Any:
    """Return what a name or an attribute of a module is in a frame; None if that is not known."""
    match expression:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ast.Attribute(value=value, attr=name):
            owner = _value_of(value, frame)
            if isinstance(owner, ModuleType):
                return getattr(owner, name, None)
            if isinstance(owner, torch.nn.Module):
                tables = (owner._modules, owner._parameters, owner._buffers)
                return next((each[name] for each in tables if name in each), None)
    return None


def _makes_tensors(module: torch.nn.Module) -> bool:
    """Return whether a module has parameters, or is a layer of torch that does something."""
    if next(module.parameters(), None) is not None:
        return True
    code = code_of(type(module).forward)
    is_leaf = next(module.children(), None) is None and not isinstance(module, torch.nn.Identity)
    return is_leaf and code is not None and is_torch(code.co_filename) and not isinstance(module, torch.nn.Sequential)


def _is_of_torch(called: Any) -> bool:
    """Return whether a function is one of torch's."""
    if isinstance(called, BuiltinFunctionType):
        return (called.__module__ or "torch").partition(".")[0] == "torch"
    code = code_of(called)
    # Those of ``torch.utils`` call functions of the user's.
    is_utility = str(getattr(called, "__module__", "")).startswith("torch.utils")
    return code is not None and is_torch(code.co_filename) and not is_utility


def _assigned(nodes: list[ast.AST], stores: list[ast.Name]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield the places that assign to a variable, alone or as one of several, with the value."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=ast.expr() as only, value=ast.expr() as value):
                targets = [only]
            case ast.AugAssign(target=ast.Name(id=name) as changed):
                # It is what it was before, or that with another operand.
                targets, value = [changed], ast.Name(name, ast.Load(), lineno=node.lineno)
            case _:
                continue
        for target in targets:
            for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if any(each is store for store in stores):
                    yield each, value
