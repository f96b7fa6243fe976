"""Code around or instead of the root's ``forward``, which is not traced (FX313).

``torch.fx`` calls the ``forward`` of the root's class. Children are called as modules: their hooks and their own
``forward`` are traced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from .....report.codes import HOOK_DROPPED
from .....report.locations import Location
from .....report.problems import Problem
from ....model.locations.class_text import code_of
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction
from ..base.pass_result import PassResult

_HOOKS = {
    "_forward_pre_hooks": ("register_forward_pre_hook", "forward pre-hook"),
    "_forward_hooks": ("register_forward_hook", "forward hook"),
    "_backward_pre_hooks": ("register_full_backward_pre_hook", "backward pre-hook"),
    "_backward_hooks": ("register_full_backward_hook", "backward hook"),
}
_NORMS = {"SpectralNorm": "spectral_norm", "WeightNorm": "weight_norm"}
"""The older parametrisations of torch.nn.utils, which work by hooks; newer ones are properties, which are traced."""


class RootHooks(Check):
    """Check of the root for behaviour that its class's ``forward`` does not include."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        root = traced.root
        for attribute, (register, what) in _HOOKS.items():
            for hook in vars(root).get(attribute, {}).values():
                norm = _NORMS.get(type(hook).__name__) if type(hook).__module__.startswith("torch.") else None
                if norm is not None:
                    message = f"The root's {norm} works by a hook, which torch.fx does not trace: the graph reads"
                    message += " the parameter as it is, and never computes it anew."
                    location = _call(traced, norm)
                else:
                    message = f"The root's {what} is not part of the graph: torch.fx traces its forward alone."
                    location = _call(traced, register)
                yield traced.problem(HOOK_DROPPED, message, location or _root(traced), "")
        yield from _own_forward(traced)
        yield from _own_call(traced)


def _own_forward(traced: PassResult) -> Iterator[Problem]:
    root = traced.root
    own = vars(root).get("forward")
    of_class = getattr(type(root), "forward", None)
    if own is None or of_class is torch.nn.Module.forward or getattr(own, "__func__", None) is of_class:
        return
    message = "torch.fx traces the forward of the class, not the one that is assigned to this instance here."
    targets = (
        traced.executed.location(method, node)
        for method in _methods(traced)
        for node in method.parts(ast.Attribute)
        if node.attr == "forward" and isinstance(node.ctx, ast.Store) and method.resolve(node.value) is root
    )
    yield traced.problem(HOOK_DROPPED, message, next(targets, None) or _root(traced), "")


def _own_call(traced: PassResult) -> Iterator[Problem]:
    cls = type(traced.root)
    code = code_of(cls.__call__)
    if cls.__call__ is torch.nn.Module.__call__ or code is None or not traced.places.is_shown(code.co_filename):
        return
    function = traced.executed.function_of(code)
    if function is None or _only_calls_super(function):
        return
    message = "The root's __call__ is not part of the graph: torch.fx traces its forward alone."
    yield traced.problem(HOOK_DROPPED, message, traced.places.of_definition(code), "")


def _only_calls_super(function: ExecutedFunction) -> bool:
    """Return whether a ``__call__`` exists for its annotations only."""
    match [part for part in function.definition.body if not isinstance(part, ast.Expr)]:
        case [ast.Return(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"))), args=args))]:
            return all(isinstance(argument, (ast.Name, ast.Starred)) for argument in args)
    return False


def _call(traced: PassResult, name: str) -> Location | None:
    """Return where the root's methods call ``self.name(...)`` or ``name(self, ...)``."""
    for method in _methods(traced):
        for call in method.parts(ast.Call):
            named = getattr(call.func, "attr", getattr(call.func, "id", None))
            of = call.func.value if isinstance(call.func, ast.Attribute) else None
            if named == name and any(method.resolve(part) is traced.root for part in (of, *call.args[:1]) if part):
                return traced.executed.location(method, call)
    return None


def _methods(traced: PassResult) -> Iterator[ExecutedFunction]:
    """Yield the methods of the root's classes whose text is available."""
    for cls in type(traced.root).__mro__:
        for member in vars(cls).values():
            code = code_of(member)
            method = traced.executed.function_of(code) if code is not None else None
            if method is not None:
                method.modules[""] = traced.root
                yield method


def _root(traced: PassResult) -> Location | None:
    made = traced.constructions.of(traced.root)
    place = traced.places.of_class(type(traced.root))
    return place or (None if made is None else traced.places.locate(made.code, made.offset))
