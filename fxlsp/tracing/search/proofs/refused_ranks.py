"""Ranks that an operation refuses, and whether these follow from the ranks of the inputs alone."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import torch

from ...model import module_tree
from ...model.diagnosis.failures import text_of
from ...model.locations.class_text import code_of
from ...model.locations.code_origin import is_installed, is_torch
from ...model.locations.source_map import SourceMap
from ..conditions import decides_by_values
from ..evidence import own_frames
from ..trials.runner import TrialOutcome

_OF_CELL = re.compile(r"^\w+Cell: Expected (?:input|hidden|hx\[\d\]) to be 1D or 2D, got \dD")
"""What torch's recurrent cells say, which look at ranks before they call a function."""
_SQUEEZING = frozenset({"squeeze", "squeeze_"})
"""Functions of which a size decides how many dimensions they return."""


def refused_rank(outcome: TrialOutcome) -> object:
    """Return which rank an operation refused, in words or numbers without sizes; None if it was none.

    Of a recurrent cell, of a map that is interpolated to a shape, of a tensor that is expanded to fewer dimensions.
    """
    error, call = outcome.error, outcome.failing
    if error is None:
        return None
    if call is None:
        of_cell = _OF_CELL.match(text_of(error)) if isinstance(error, ValueError) else None
        return None if of_cell is None else of_cell[0]
    if not call.args or not isinstance(call.args[0], torch.Tensor):
        return None
    rank, rest = call.args[0].dim(), call.args[1:]
    if call.name == "interpolate":
        size: Any = call.kwargs.get("size", rest[0] if rest else None)
        is_shape = isinstance(size, (tuple, list)) and rank > 2
        return (call.name, rank, len(size)) if is_shape and len(size) != rank - 2 else None
    if call.name == "expand":
        sizes = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest
        return (call.name, rank, len(sizes)) if 0 < len(sizes) < rank else None
    return None


def may_have_other_ranks(outcome: TrialOutcome, places: SourceMap) -> bool:
    """Return whether anything but the ranks of inputs may decide about the ranks in a failed run.

    A ``squeeze``, a condition that reads a size, what may be caught, or code that is not the user's.
    """
    model, error = outcome.model, outcome.error
    if model is None or error is None:
        return True
    kinds = {type(module) for module in module_tree.modules(model)}
    own = {kind for each in kinds for kind in each.__mro__ if not _is_of_torch(kind)}
    functions = [kind.__dict__["forward"] for kind in own if isinstance(kind.__dict__.get("forward"), FunctionType)]
    files = {frame.f_code.co_filename for frame, _ in own_frames(error.__traceback__, places)}
    files.update(code.co_filename for code in map(code_of, functions) if code is not None)
    for function in functions:
        files.update(_imported_files(inspect.unwrap(function).__globals__))
    names = frozenset(kind.__name__ for kind in own)
    return any(is_installed(file) or _decides(file, names) for file in files)


def _is_of_torch(kind: type) -> bool:
    return kind is object or kind.__module__.partition(".")[0] in ("torch", "builtins", "typing", "abc")


def _imported_files(names: dict[str, object]) -> Iterator[str]:
    """Yield the files of the user's functions and modules that a module has imported."""
    for value in list(names.values()):
        file = None
        if isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
        elif isinstance(value, FunctionType):
            file = value.__code__.co_filename
        if isinstance(file, str) and file.endswith(".py") and not is_installed(file) and not is_torch(file):
            yield file


def _decides(file: str, classes: frozenset[str]) -> bool:
    return _decides_in("".join(linecache.getlines(file)), classes)


@lru_cache(maxsize=32)
def _decides_in(text: str, classes: frozenset[str]) -> bool:
    """Return whether a method of these classes, or any function, may make ranks of sizes."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return True
    found = [each for each in tree.body if not isinstance(each, ast.ClassDef) or each.name in classes]
    functions = [each for part in found for each in _functions_of(part)]
    stored = {
        node.attr
        for each in functions
        for node in ast.walk(each)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and each.name != "__init__"
    }
    return not tree.body or any(_may_change_ranks(each, stored) for each in functions)


def _functions_of(part: ast.stmt) -> Iterator[ast.FunctionDef]:
    if isinstance(part, ast.FunctionDef):
        yield part
    elif isinstance(part, ast.ClassDef):
        yield from (each for each in part.body if isinstance(each, ast.FunctionDef))


def _may_change_ranks(function: ast.FunctionDef, stored: set[str]) -> bool:
    """Return whether a function may make ranks of sizes; ``stored`` are attributes that not only constructors set."""
    owner = tuple(each.arg for each in function.args.args[:1] if each.arg == "self")
    nodes = list(ast.walk(function))
    if any(isinstance(node, (ast.Attribute, ast.Name)) and _name_of(node) in _SQUEEZING for node in nodes):
        return True
    if function.name == "__init__":
        inner = [node for node in nodes if isinstance(node, (ast.Lambda, ast.FunctionDef)) and node is not function]
        nodes = [node for each in inner for node in ast.walk(each)]
    return any(isinstance(node, (ast.Try, ast.Starred)) or decides_by_values(node, owner, stored) for node in nodes)


def _name_of(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id
