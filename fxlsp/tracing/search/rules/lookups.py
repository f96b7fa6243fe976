"""Attributes that another branch sets, keys of dicts, and items that are unpacked: as the user's code asks for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from types import FrameType, FunctionType
from typing import Any

import torch

from ..conditions import setting_conditions
from ..evidence import Evidence, unpacked_names
from ..priors.class_body import is_torchs, tree_of
from ..priors.tables import SEQUENCE
from ..size_edits import equalised
from ..trials.duck import DuckValue
from ..trials.values import (
    Edit,
    Guess,
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    init_numbers,
    leaves,
    name_of,
    number_of,
    sizes_of,
    tensors,
    with_dimension,
)
from .predicates import FrameScope, Solver
from .registry import rule

_MOST_KEYS = 4
"""Keys of one dict that are tried."""
_Dict = Mapping[Any, Any] | torch.nn.ModuleDict

_PURE = frozenset({"split", "chunk", "unbind", "tolist"})
"""Methods that may be called once more to see what they return."""


@rule("branch that sets an attribute", "kind", lambda evidence: isinstance(evidence.error, AttributeError))
def _unset(evidence: Evidence) -> Iterator[Edit]:
    """Make the constructor take the branch that sets an attribute which is missing.

    Only what was guessed is guessed otherwise: that an attribute is missing by default is for the user to know.
    """
    module, name = getattr(evidence.error, "obj", None), getattr(evidence.error, "name", None)
    if not isinstance(module, torch.nn.Module) or not isinstance(name, str):
        return
    for cls in type(module).__mro__:
        init = vars(cls).get("__init__")
        if isinstance(init, FunctionType) and not is_torchs(cls) and init.__code__.co_argcount > 0:
            # Its arguments are not known any more.
            scope = FrameScope(init.__code__, init.__globals__, {})
            for test, wanted in setting_conditions(init.__code__, name):
                yield from Solver(evidence.trial, scope).that(test, wanted)


@rule("items that are unpacked", "kind", lambda evidence: isinstance(evidence.error, ValueError))
def _unpacked_items(evidence: Evidence) -> Iterator[Edit]:
    """Give what the failing line unpacks as many items as it has names for them."""
    wanted, trial = unpacked_names(evidence.text), evidence.trial
    if wanted is None or not evidence.frames:
        return
    frame, line = evidence.frames[0]
    for subject, depth in _unpacked(tree_of(frame.f_code), line - frame.f_code.co_firstlineno + 1, wanted):
        if not all(_is_pure(node) for node in ast.walk(subject)):
            continue
        try:
            value = eval(compile(ast.Expression(subject), "<unpacked>", "eval"), frame.f_globals, frame.f_locals)
        except Exception:
            # A variable may have been changed since.
            continue
        if isinstance(value, torch.Size):
            yield from _of_rank(trial, set(_names_in(subject)), wanted)
        yield from _with_items(trial, value, depth, wanted)


def _unpacked(tree: ast.AST, line: int, wanted: int) -> Iterator[tuple[ast.expr, int]]:
    """Yield what a line unpacks into so many names: itself (0) or each of its items (1)."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts)], value=value) if len(elts) == wanted:
                if node.lineno <= line <= (node.end_lineno or node.lineno):
                    yield value, 0
            case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated):
                if target.lineno <= line <= (iterated.end_lineno or target.lineno):
                    yield from ((each, 1) for each in _looped_over(target, iterated, wanted))


def _looped_over(target: ast.expr, iterated: ast.expr, wanted: int) -> Iterator[ast.expr]:
    match target, iterated:
        case ast.Tuple([_, inner]), ast.Call(func=ast.Name("enumerate"), args=[items, *_]):
            yield from _looped_over(inner, items, wanted)
        case ast.Tuple(targets), ast.Call(func=ast.Name("zip"), args=several):
            for inner, items in zip(targets, several, strict=False):
                yield from _looped_over(inner, items, wanted)
        case ast.Tuple(targets), _ if len(targets) == wanted:
            yield iterated


def _is_pure(node: ast.AST) -> bool:
    """Return whether evaluating it once more changes nothing."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _PURE
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))


def _names_in(subject: ast.expr) -> Iterator[str]:
    """Yield the names of variables and attributes."""
    for node in ast.walk(subject):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _of_rank(trial: Trial, names: set[str], rank: int) -> Iterator[Edit]:
    """Replace numbers by lists and by tensors of the rank that is wanted."""
    for path, part in init_numbers(trial):
        if name_of(path) in names:
            yield {path: sizes_of(3, number_of(part))}
            yield {path: Tensor((number_of(part),) * rank)}


def _with_items(trial: Trial, value: Any, depth: int, wanted: int) -> Iterator[Edit]:
    if isinstance(value, torch.Tensor):
        same = [(path, tensor) for path, tensor in tensors(trial) if tensor.shape == tuple(value.shape)]
        for path, tensor in same:
            if depth:
                # Rows of so many numbers: most likely sizes or indices.
                yield {path: Tensor((SEQUENCE, wanted), "long")}
            if value.dim() > depth:
                yield {path: with_dimension(tensor, depth, wanted)}
            else:
                yield {path: Tensor((SEQUENCE, wanted)[1 - depth :], tensor.dtype)}
        if value.dim() > depth:
            yield from equalised(trial, value.shape[depth], wanted)
    elif isinstance(value, (list, tuple)) and not isinstance(value, torch.Size) and not depth:
        yield from equalised(trial, len(value), wanted)


@rule("key of a dict", "omitted", lambda evidence: isinstance(evidence.error, KeyError) and evidence.error.args)
def _looked_up(evidence: Evidence) -> Iterator[Edit]:
    """Make an input or argument a key of the dict in which it was looked up, or a number that makes up one."""
    trial, frame, words, key = evidence.trial, evidence.frame, evidence.words, evidence.error.args[0]
    if frame is None:
        return
    looked_up = [path for path, part in leaves(trial) if _is(part, path, key)]
    items = set(_items(frame, key))
    for path in sorted(looked_up, key=lambda path: (path[-1] not in items, name_of(path) not in words)):
        for named in _dicts(frame, words):
            yield from ({path: other} for other in islice(_keys(named, words), _MOST_KEYS))
    if isinstance(key, str):
        for named in _dicts(frame, words):
            yield from _made_up(trial, key, named)


def _is(part: Guess, path: Path, key: Any) -> bool:
    """Return whether a part of the trial is what was not found."""
    if isinstance(key, DuckValue):
        return path == key.fxlsp_use.path
    if isinstance(part, Tensor):
        return isinstance(key, torch.Tensor) and part.shape == tuple(key.shape)
    return part == (Size(key) if type(key) is int else Text(repr(key)))


def _items(frame: FrameType, key: Any) -> Iterator[str]:
    """Yield the indices of the key in the frame's lists, which identify inputs of one shape."""
    for value in frame.f_locals.values():
        if isinstance(value, (list, tuple)):
            yield from (f"[{index}]" for index, item in enumerate(value) if item is key)


def _dicts(frame: FrameType, words: set[str]) -> Iterator[_Dict]:
    """Yield the dicts among attributes and variables of these names."""
    owner = frame.f_locals.get("self")
    held: dict[str, Any] = {}
    if isinstance(owner, torch.nn.Module):
        for cls in reversed(type(owner).__mro__):
            held |= vars(cls)
        held |= {**vars(owner), **owner._modules}
    for named in (held, frame.f_locals, frame.f_globals):
        # The keys of a frame's variables are no set on Python 3.13.
        yield from (named[word] for word in sorted(words.intersection(named)) if isinstance(named[word], _DICTS))


_DICTS = (Mapping, torch.nn.ModuleDict)


def _keys(named: _Dict, words: set[str]) -> Iterator[Guess]:
    """Yield keys, those of parts that have what the failing line reads first."""
    for key in sorted(named, key=lambda key: not _has_any(named[key], words)):
        if isinstance(key, str):
            yield Text(repr(key))
        elif isinstance(key, int) and not isinstance(key, bool):
            # A duck value too.
            yield Size(int(key))


def _has_any(value: Any, words: set[str]) -> bool:
    return not words.isdisjoint(value if isinstance(value, Mapping) else getattr(value, "__dict__", ()))


def _made_up(trial: Trial, key: str, named: _Dict) -> Iterator[Edit]:
    """Replace a constructor's number that the key has in it by that of another key."""
    for path, part in init_numbers(trial):
        before, number, after = key.partition(str(number_of(part)))
        if number and before + after:
            known = (each[len(before) : len(each) - len(after)] for each in named if _is_like(each, before, after))
            yield from ({path: Size(int(each))} for each in islice(filter(str.isdecimal, known), _MOST_KEYS))


def _is_like(key: object, before: str, after: str) -> bool:
    return isinstance(key, str) and key.startswith(before) and key.endswith(after)
