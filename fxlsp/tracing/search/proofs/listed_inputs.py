"""Inputs that are guessed to be one tensor, and may as well be several: maps of an image at several scales.

What fails with one tensor proves nothing of a list whose items have sizes of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

import torch

from ...model import module_tree
from ...model.locations.class_text import code_of
from ...model.locations.code_origin import is_torch
from ...model.locations.source_map import SourceMap
from ..evidence import own_frames
from ..priors.class_body import looped, tree_of
from ..trials.runner import TrialOutcome
from ..trials.values import Trial, input_tensors

_DEEPEST = 4
"""Number of calls that an input is followed through."""


def may_be_listed(trial: Trial, outcome: TrialOutcome, places: SourceMap) -> bool:
    """Return whether code takes an input apart item by item, of a trial with inputs that are tensors.

    Looked at are the functions in which the trial failed, and those that ``forward`` passes its inputs to.
    """
    model = outcome.model
    if model is None or outcome.error is None or not input_tensors(trial):
        return False
    failed = {frame.f_code for frame, _ in own_frames(outcome.error.__traceback__, places)}
    return any(_takes_apart(code) for code in failed | set(_followed(model, _forward(model), _DEEPEST)))


def is_only_passed_to_layers(name: str, model: torch.nn.Module) -> bool:
    """Return whether ``forward`` uses an input for nothing but arguments of torch's layers, such as a mask.

    Whether it is given then changes no size of what they return, nor where the run goes.
    """
    code = _forward(model)
    tree = None if code is None else tree_of(code)
    passed: set[int] = set()
    for node in () if tree is None else ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attribute), args=args, keywords=keywords):
                layer = model._modules.get(attribute)
                if layer is not None and all(map(_is_of_torch, module_tree.modules(layer))):
                    passed.update(map(id, (*args, *(each.value for each in keywords))))
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name] if tree else []
    return bool(uses) and all(id(each) in passed for each in uses)


def _is_of_torch(module: torch.nn.Module) -> bool:
    code = _forward(module)
    return code is not None and is_torch(code.co_filename)


def _forward(model: torch.nn.Module) -> CodeType | None:
    return code_of(type(model).forward)


def _followed(module: torch.nn.Module, code: CodeType | None, depth: int) -> Iterator[CodeType]:
    """Yield a function, and the methods and modules of ``module`` that it passes its parameters to."""
    if code is None or not depth or is_torch(code.co_filename):
        return
    yield code
    unchanged = _Unchanged(code)
    for node in ast.walk(unchanged.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=args):
                if not any(unchanged.is_parameter(each) for each in args):
                    continue
                called = module._modules.get(name)
                if called is not None:
                    yield from _followed(called, _forward(called), depth - 1)
                else:
                    yield from _followed(module, code_of(getattr(type(module), name, None)), depth - 1)


def _takes_apart(code: CodeType) -> bool:
    """Return whether a function loops over one of its parameters, unpacks it, or takes one item."""
    unchanged = _Unchanged(code)
    for node in ast.walk(unchanged.tree):
        found: list[ast.expr] = []
        match node:
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                found = list(looped(iterated))
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[value]):
                found = [value]
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Tuple):
                found = [value]
            case ast.Starred(value=value) | ast.Assign(targets=[ast.Tuple()], value=value):
                found = [value]
        if any(unchanged.is_parameter(each) for each in found):
            return True
    return False


class _Unchanged:
    """Parameters of a function, where it has assigned nothing else to their names."""

    def __init__(self, code: CodeType) -> None:
        self.tree = tree_of(code)
        self._names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - {"self"}
        self._changed: dict[str, int] = {}
        """The last line of the first statement that assigns a name."""
        for statement in ast.walk(self.tree):
            if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
                continue
            end = statement.iter if isinstance(statement, ast.For) else statement
            line = end.end_lineno or end.lineno
            for name in _assigned(statement):
                self._changed[name] = min(line, self._changed.get(name, line))

    def is_parameter(self, node: ast.expr) -> bool:
        """Return whether an expression is the name of a parameter that no line before has assigned."""
        if not isinstance(node, ast.Name) or node.id not in self._names:
            return False
        return node.lineno <= self._changed.get(node.id, node.lineno)


def _assigned(statement: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for node in (each for target in targets for each in ast.walk(target)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
