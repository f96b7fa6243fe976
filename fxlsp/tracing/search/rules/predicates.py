"""Conditions that have to hold: of an ``assert``, a ``raise``, or a branch that binds what is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

import torch

from ...model.locations.code_origin import is_installed
from ..conditions import CHECKS, dimension_of, failing_conditions, rank_tensor, starred_dimensions
from ..evidence import Evidence
from ..priors.constructor import ARRAY, array_of, called_module, hidden_parameters, instance_of
from ..priors.tables import ONE_LAYER, SEQUENCE, VOCABULARY
from ..size_edits import divisible, equalised
from ..trials.duck import DuckValue
from ..trials.values import (
    Edit,
    Group,
    Guess,
    Open,
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    edited,
    groups,
    leaves,
    name_of,
    number_of,
    of_length,
    several,
    sizes_of,
    with_dimension,
)
from .ranks_dtypes import of_rank, reranked
from .registry import rule

_LARGEST_CHOICE = 12
"""Values of a collection that are tried."""
_UNBOUND = re.compile(r"variable '(\w+)'")
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@rule("condition of an assert or raise", "kind")
def _asserted(evidence: Evidence) -> Iterator[Edit]:
    """Make the condition hold for want of which the error was raised, in the user's code or in torch's."""
    last = evidence.error.__traceback__
    while last is not None and last.tb_next is not None and not _is_check_of(last.tb_frame, last.tb_next.tb_frame):
        last = last.tb_next
    if last is None:
        return
    error = evidence.error
    unbound = _UNBOUND.search(str(error)) if isinstance(error, UnboundLocalError) else None
    scope = FrameScope.of(last.tb_frame)
    for test, wanted in failing_conditions(scope.code, last.tb_lineno, unbound.group(1) if unbound else None):
        yield from Solver(evidence.trial, scope).that(test, wanted)


def _is_check_of(caller: FrameType, called: FrameType) -> bool:
    """Return whether the user's code calls a function of torch's that raises unless its first argument is true."""
    is_check = called.f_code.co_name in CHECKS and is_installed(called.f_code.co_filename)
    return is_check and not is_installed(caller.f_code.co_filename)


@dataclass(frozen=True)
class FrameScope:
    """A function, and the names that are known in it."""

    code: CodeType
    globals: dict[str, Any]
    locals: Mapping[str, Any]

    @classmethod
    def of(cls, frame: FrameType) -> FrameScope:
        return cls(frame.f_code, frame.f_globals, frame.f_locals)


@dataclass(frozen=True)
class Solver:
    """Edits of a trial after which an expression of the user's has another value."""

    trial: Trial
    scope: FrameScope

    def that(self, test: ast.expr, wanted: bool) -> Iterator[Edit]:
        now = self._value(test)
        if isinstance(now, bool) and now == wanted:
            return
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self.that(operand, not wanted)
            case ast.BoolOp(values=values):
                for value in values:
                    yield from self.that(value, wanted)
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]) if wanted:
                yield from self._of_kind(subject, self._value(kind))
            case ast.Compare(left=ast.Call(func=ast.Name(id="type"), args=[subject]), comparators=[kind]) if wanted:
                yield from self._of_kind(subject, self._value(kind))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                if wanted and len(ops) > 1:
                    yield from self._all_equal([left, *rights], ops)
                for op, right in zip(ops, rights, strict=True):
                    yield from self._compared(left, type(op) if wanted else _OPPOSITE[type(op)], right)
                    left = right
            case ast.Name() | ast.Attribute():
                for path, _ in self._parts(test, self._value(test)):
                    yield {path: Text(str(wanted))}

    def _all_equal(self, chained: list[ast.expr], ops: list[ast.cmpop]) -> Iterator[Edit]:
        """Give lists the length n of ``len(a) == len(b) == n``: one alone would still fail."""
        equal = [chained[0], *(each for each, op in zip(chained[1:], ops, strict=True) if isinstance(op, ast.Eq))]
        calls = [each for each in equal if isinstance(each, ast.Call) and ast.unparse(each.func) == "len"]
        values = [self._value(each) for each in (*calls, *(each for each in equal if each not in calls))]
        wanted = next((each for each in reversed(values) if isinstance(each, int)), 0)
        together: dict[Path, Guess | None] = {}
        for call in calls:
            trial = edited(self.trial, together)
            together.update(next(Solver(trial, self.scope)._of_length(call.args[0], int(wanted)), {}))
        if together:
            yield together

    def _value(self, expression: ast.expr) -> Any:
        code = compile(ast.Expression(expression), "<condition>", "eval")
        try:
            return eval(code, self.scope.globals, self.scope.locals)
        except Exception:
            # As it may have been what failed in the first place.
            return None

    def _compared(self, left: ast.expr, op: type[ast.cmpop], right: ast.expr) -> Iterator[Edit]:
        one, other = self._value(left), self._value(right)
        if op is ast.In:
            yield from self._one_of(left, one, other)
        elif op in (ast.Eq, ast.Is):
            yield from self._equal(left, one, other)
            yield from self._equal(right, other, one)
        elif isinstance(one, int) and isinstance(other, (int, float)):
            step = {ast.Lt: -1, ast.Gt: 1, ast.NotEq: 1}.get(op, 0)
            yield from self._equal(left, one, int(other) + step)
            yield from self._equal(right, int(other), int(one) - step)
        if op in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
            for path, _ in self._parts(left, one):
                yield {path: Text("0.5")}

    def _one_of(self, left: ast.expr, one: Any, choice: Any) -> Iterator[Edit]:
        if isinstance(choice, (str, torch.Tensor, DuckValue)) or not hasattr(choice, "__iter__"):
            return
        values = sorted(choice, key=repr)[:_LARGEST_CHOICE] if isinstance(choice, (set, frozenset)) else choice
        if type(one) is int:
            # Of the ranks that a layer takes the nearest, which is that with a batch where there are too many.
            values = sorted(values, key=lambda value: abs(value - one) if isinstance(value, (int, float)) else 0)
        for value in values:
            yield from self._equal(left, one, value)

    def _equal(self, subject: ast.expr, one: Any, other: Any) -> Iterator[Edit]:
        """``subject``, which is ``one``, made equal to ``other``."""
        match subject:
            case ast.BinOp(left=left, op=ast.Mod(), right=right) if other == 0:
                yield from self._divisible(self._value(left), self._value(right))
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if isinstance(other, int):
                # What was divided by one of them, and rounded: nothing, where it was smaller.
                yield from self._divisible(other, self._value(right))
                yield from self._divisible(other, self._value(left))
            case _ if isinstance(other, int) and isinstance(one, int) and (tensor := rank_tensor(subject)) is not None:
                yield from self._of_rank(tensor, one, other)
            case _ if isinstance(other, int) and (dimension := dimension_of(subject)) is not None:
                yield from self._of_dimension(*dimension, int(other))
            case ast.Call(func=ast.Name(id="len"), args=[sequence]) if isinstance(other, int):
                yield from self._of_length(sequence, int(other))
        if isinstance(other, (str, bool, float, int, type(None))):
            for path, part in self._parts(subject, one):
                value = int(other) if isinstance(other, DuckValue) else other
                yield {path: _like(part, value)}
        if isinstance(one, int) and isinstance(other, int):
            yield from equalised(self.trial, int(one), int(other))
        elif isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
            for left, right in zip(one, other, strict=False):
                if isinstance(left, int) and isinstance(right, int):
                    yield from equalised(self.trial, int(left), int(right))

    def _divisible(self, number: Any, by: Any) -> Iterator[Edit]:
        if isinstance(number, int) and isinstance(by, int):
            yield from divisible(self.trial, int(number), int(by))

    def _of_rank(self, tensor: ast.expr, got: int, wanted: int) -> Iterator[Edit]:
        for path, part in self._parts(tensor, None):
            if isinstance(part, Tensor) and 0 <= wanted <= 6:
                yield {path: of_rank(part, wanted)}
            elif isinstance(part, Text) and part.code.startswith(ARRAY) and 0 < wanted <= 6:
                yield {path: array_of((VOCABULARY,) * wanted)}
        yield from reranked(self.trial, got, wanted)

    def _of_further_dimensions(self, tensor: ast.expr, others: int, got: int, wanted: int) -> Iterator[Edit]:
        """Give an input so many dimensions beside ``others`` that are named: first in front of the last one."""
        for path, part in self._parts(tensor, None):
            if isinstance(part, Tensor) and len(part.shape) == got + others > 1 and 0 <= wanted <= 4:
                yield {path: replace(part, shape=(part.shape[0], *(SEQUENCE,) * (wanted + others - 2), part.shape[-1]))}
        yield from self._of_rank(tensor, got + others, wanted + others)

    def _of_dimension(self, tensor: ast.expr, index: int, size: int) -> Iterator[Edit]:
        """Give an input as many in one dimension, which may be the batch."""
        for path, part in self._parts(tensor, None):
            if isinstance(part, Tensor) and -len(part.shape) <= index < len(part.shape) and size > 0:
                yield {path: with_dimension(part, index, size)}

    def _of_length(self, sequence: ast.expr, length: int) -> Iterator[Edit]:
        value = self._value(sequence)
        further = starred_dimensions(self.scope.code, sequence.id) if isinstance(sequence, ast.Name) else None
        if further is not None and isinstance(value, list):
            yield from self._of_further_dimensions(*further, len(value), length)
        for path, part in self._parts(sequence, value):
            if isinstance(part, Group) and part.kind in ("list", "tuple") and part.items:
                yield {path: of_length(part, length)}
            elif isinstance(part, Tensor) and 0 < length <= _LARGEST_CHOICE:
                yield {path: several(part, length)}
            elif isinstance(part, (Open, Size)) and 0 <= length <= _LARGEST_CHOICE:
                yield {path: sizes_of(length, number_of(part))}

    def _of_kind(self, subject: ast.expr, kind: Any) -> Iterator[Edit]:
        for path, part in self._parts(subject, self._value(subject)):
            size = number_of(part) if isinstance(part, (Open, Size)) else 2
            for each in kind if isinstance(kind, tuple) else (kind,):
                make = _OF_KIND.get(each)
                if isinstance(part, Tensor) and each in (list, tuple):
                    yield {path: several(part, 2)}
                elif each is torch.nn.utils.rnn.PackedSequence and isinstance(part, Tensor) and len(part.shape) > 1:
                    step = replace(part, shape=part.shape[1:])
                    yield {path: Text(f"torch.nn.utils.rnn.pack_sequence([{step.text}] * 2)")}
                elif each is torch.nn.Module:
                    yield {path: Text(called_module(name_of(path)))}
                elif make is not None:
                    yield {path: make(size)}
                elif isinstance(each, type) and _is_named(each, self.scope.globals):
                    yield {path: instance_of(each)}

    def _parts(self, subject: ast.expr, value: Any) -> list[tuple[Path, Guess]]:
        """Return the parts of the trial that ``subject`` may be: the duck value that it is, or those of its name."""
        every = [*leaves(self.trial), *sequences(self.trial)]
        if isinstance(value, DuckValue):
            found = [(path, part) for path, part in every if path == value.fxlsp_use.path]
            return found or [(value.fxlsp_use.path, value.fxlsp_use.open)]
        name = subject.id if isinstance(subject, ast.Name) else getattr(subject, "attr", None)
        found = [(path, part) for path, part in every if name is not None and name_of(path) == name]
        if not found and isinstance(subject, ast.Name) and self._is_own_argument(subject.id):
            return [(("init", subject.id), Size(1))]
        if not found and isinstance(subject, ast.Attribute) and self._is_hidden_argument(subject):
            return [(("init", subject.attr), Size(1))]
        return found

    def _is_hidden_argument(self, subject: ast.Attribute) -> bool:
        """Return whether ``self.name`` is named like an argument that reaches a base class as ``**name``."""
        owner, init = self.scope.locals.get("self"), self.trial.init
        if ast.unparse(subject.value) != "self" or not isinstance(init, Group) or type(owner).__name__ != init.name:
            return False
        return subject.attr in hidden_parameters(type(owner))

    def _is_own_argument(self, name: str) -> bool:
        """Return whether it is an argument of the trial's constructor, left to its default."""
        code, init = self.scope.code, self.trial.init
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        owner = self.scope.locals.get(names[0]) if names else None
        return (
            code.co_name == "__init__"
            and isinstance(init, Group)
            and type(owner).__name__ == init.name
            and name in names
        )


_OF_KIND: dict[type, Callable[[int], Guess]] = {
    int: Size,
    float: lambda size: Text("0.5"),
    bool: lambda size: Text("True"),
    str: lambda size: Text("''"),
    list: lambda size: sizes_of(3, size),
    tuple: lambda size: sizes_of(2, size, "tuple"),
    dict: lambda size: Group("dict", ()),
    torch.Tensor: lambda size: Tensor((size, size)),
    torch.Size: lambda size: Text(f"torch.Size([{size}])"),
    torch.device: lambda size: Text("torch.device('cpu')"),
    torch.nn.Sequential: lambda size: Text(ONE_LAYER),
    torch.nn.ModuleList: lambda size: Text("torch.nn.ModuleList([torch.nn.Identity()])"),
    torch.nn.ModuleDict: lambda size: Text("torch.nn.ModuleDict({'0': torch.nn.Identity()})"),
    torch.nn.Conv2d: lambda size: Text("torch.nn.Conv2d(32, 32, 3, padding=1)"),
    torch.nn.Linear: lambda size: Text("torch.nn.Linear(32, 32)"),
}


def _is_named(cls: type, names: Mapping[str, Any]) -> bool:
    """Return whether a text can name a class by its own name."""
    return names.get(cls.__name__) is cls


def sequences(trial: Trial) -> Iterator[tuple[Path, Group]]:
    """Yield the lists and tuples of the trial, empty ones too."""
    return ((path, group) for path, group in groups(trial) if len(path) > 1 and group.kind in ("list", "tuple"))


def _like(part: Guess, value: object) -> Guess:
    """``value`` in the place of ``part``: numbers stay correctable."""
    return Size(value) if isinstance(value, int) and not isinstance(value, bool) else Text(repr(value))
