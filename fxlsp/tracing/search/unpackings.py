"""What could not be unpacked into so many names: how many there were, and of which input or argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import torch

from ..failures import text_of
from .bodies import tree_of
from .failing_lines import Line
from .guesses import Tensor, Trial, changed
from .names import SEQUENCE, name_of, sizes_of
from .sizes import equalised, number_of, numbers, tensors, with_dimension

_WANTED = re.compile(r"values to unpack \(expected (\d+)")
_PURE = frozenset({"split", "chunk", "unbind", "tolist"})
"""Methods that may be called once more to see what they return."""


def read(trial: Trial, error: BaseException, frames: list[Line]) -> Iterator[Trial]:
    """Trials in which what the failing line unpacks has as many items as it has names for them."""
    match = _WANTED.search(text_of(error)) if isinstance(error, ValueError) else None
    if match is None or not frames:
        return
    (frame, line), wanted = frames[0], int(match.group(1))
    for subject, depth in _unpacked(tree_of(frame.f_code), line - frame.f_code.co_firstlineno + 1, wanted):
        if not all(_is_pure(node) for node in ast.walk(subject)):
            continue
        try:
            value = eval(compile(ast.Expression(subject), "<unpacked>", "eval"), frame.f_globals, frame.f_locals)
        except Exception:
            # A variable may have been changed since.
            continue
        if isinstance(value, torch.Size):
            yield from _of_rank(trial, set(_names(subject)), wanted)
        yield from _with_items(trial, value, depth, wanted)


def _unpacked(tree: ast.AST, line: int, wanted: int) -> Iterator[tuple[ast.expr, int]]:
    """What is unpacked on a line into as many names, and whether it is each of its items (1) or itself (0)."""
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
    """Whether evaluating it once more changes nothing."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _PURE
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))


def _names(subject: ast.expr) -> Iterator[str]:
    """Of variables and attributes."""
    for node in ast.walk(subject):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _of_rank(trial: Trial, names: set[str], rank: int) -> Iterator[Trial]:
    """Lists in the place of numbers of which a tensor was made; and tensors of the rank that is wanted."""
    for path, part in numbers(trial):
        if path[0] == "made" and name_of(path) in names:
            yield changed(trial, path, sizes_of(3, number_of(part)))
            yield changed(trial, path, Tensor((number_of(part),) * rank))


def _with_items(trial: Trial, value: Any, depth: int, wanted: int) -> Iterator[Trial]:
    if isinstance(value, torch.Tensor):
        same = [(path, tensor) for path, tensor in tensors(trial) if tensor.shape == tuple(value.shape)]
        for path, tensor in same:
            if depth:
                # Rows of so many numbers: most likely sizes or indices.
                yield changed(trial, path, Tensor((SEQUENCE, wanted), "long"))
            if value.dim() > depth:
                yield changed(trial, path, with_dimension(tensor, depth, wanted))
            else:
                yield changed(trial, path, Tensor((SEQUENCE, wanted)[1 - depth :], tensor.dtype))
        if value.dim() > depth:
            yield from equalised(trial, value.shape[depth], wanted)
    elif isinstance(value, (list, tuple)) and not isinstance(value, torch.Size) and not depth:
        yield from equalised(trial, len(value), wanted)
