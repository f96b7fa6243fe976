"""Functions of torch whose argument parsers, or whose nature, refuse proxies: tried as they are, noted, and passed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch

from ...report.codes import COMPILED, FACTORY, TRANSFORM
from ..frames import is_installed
from .proxies import REPLACED, is_proxy
from .shadows import shadows_for
from .trees import leaves

if TYPE_CHECKING:
    from .tracer import RecoveringTracer

_FACTORIES = (
    *("tensor", "as_tensor", "scalar_tensor", "zeros", "ones", "empty", "full", "rand", "randn", "randint"),
    *("randperm", "arange", "linspace", "logspace", "eye", "from_numpy", "complex"),
)
_METHODS = (
    *("expand", "repeat", "view", "reshape", "permute", "tile", "unflatten"),
    *("new_zeros", "new_ones", "new_empty", "new_full"),
)
"""Methods of tensors that take sizes one by one: of a tensor that is no proxy they refuse a size that is one."""
_TRANSFORMS = ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")


@contextmanager
def refusals_passed(tracer: RecoveringTracer) -> Iterator[None]:
    """While this lasts, the functions above note their refusals with ``tracer``, wherever a name stands for them."""
    restore: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, value: Any) -> None:
        restore.append((owner, name, owner.__dict__.get(name, _MISSING)))
        setattr(owner, name, value)

    replaced = _replacements(tracer)
    for owner, name, _, passing in replaced:
        replace(owner, name, passing)
    by_identity = {id(original): passing for _, _, original, passing in replaced if not isinstance(original, type)}
    for module in _user_modules(tracer):
        for name, value in list(vars(module).items()):
            passing = by_identity.get(id(value)) or _compiled(tracer, value)
            if passing is not None:
                replace(module, name, passing)
        for name, shadow in shadows_for(tracer, module, tracer.places.text_of(module)).items():
            replace(module, name, shadow)
    for owner in _owners_of_methods(tracer):
        for name, value in list(vars(owner).items()):
            passing = _compiled(tracer, value)
            if passing is not None:
                replace(owner, name, passing)
    try:
        yield
    finally:
        for owner, name, value in reversed(restore):
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


_MISSING = object()


def _replacements(tracer: RecoveringTracer) -> list[tuple[Any, str, Any, Any]]:
    """Owner, name, original and replacement of each function."""
    found: list[tuple[Any, str, Any, Any]] = []
    for name in _FACTORIES:
        original = getattr(torch, name, None)
        if original is not None and not isinstance(original, type):
            found.append((torch, name, original, _passing(tracer, original, "call_function", original, FACTORY)))
    for name in _METHODS:
        original = getattr(torch.Tensor, name)
        found.append((torch.Tensor, name, original, _passing(tracer, original, "call_method", name, FACTORY)))
    for owner in (torch, torch.func):
        for name in _TRANSFORMS:
            original = getattr(owner, name, None)
            if original is not None:
                found.append((owner, name, original, _transform(tracer, original)))
    found.append((torch, "cond", torch.cond, _cond(tracer)))
    found.append((torch.nn.Module, "__setattr__", torch.nn.Module.__setattr__, _assigning()))
    return found


def _passing(tracer: RecoveringTracer, original: Any, kind: str, target: Any, code: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if tracer.evaluating or not any(is_proxy(leaf) for leaf in leaves((args, kwargs))):
            return original(*args, **kwargs)
        return tracer.refused(original, kind, target, code, args, kwargs)

    call.__name__ = getattr(original, "__name__", "call")
    setattr(call, REPLACED, original)
    return call


def _transform(tracer: RecoveringTracer, original: Any) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        function = original(*args, **kwargs)
        return _passing(tracer, function, "call_function", function, TRANSFORM) if callable(function) else function

    return make


def _cond(tracer: RecoveringTracer) -> Callable[..., Any]:
    original = torch.cond

    def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
        if not any(is_proxy(leaf) for leaf in leaves((pred, operands))):
            return original(pred, true_fn, false_fn, operands)
        tracer.note_refusal(lambda: original(pred, true_fn, false_fn, operands), TRANSFORM)
        with tracer.silent():
            side = true_fn if bool(pred) else false_fn
        return side(*operands)

    return cond


def _assigning() -> Callable[..., None]:
    """Modules whose buffers take a proxy, as they do in newer versions of torch; that it is kept is told elsewhere."""
    original = torch.nn.Module.__setattr__

    def assign(module: torch.nn.Module, name: str, value: Any) -> None:
        try:
            original(module, name, value)
        except TypeError:
            if not is_proxy(value) or name not in module._buffers:
                raise
            module._buffers[name] = value

    return assign


def _compiled(tracer: RecoveringTracer, value: Any) -> Callable[..., Any] | None:
    """A replacement for a function that was scripted or compiled; None for anything else."""
    if not isinstance(value, FunctionType | torch.jit.ScriptFunction):
        return None
    if isinstance(value, torch.jit.ScriptFunction):
        if not hasattr(value, "__name__"):
            # torch.fx names the node after it; older versions of torch give it none.
            value.__name__ = value.name  # type: ignore[attr-defined]
        return _passing(tracer, value, "call_function", value, COMPILED)
    original = getattr(value, "_torchdynamo_orig_callable", None)
    if original is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        if not tracer.evaluating:
            tracer.note(COMPILED, RuntimeError(DYNAMO))
        return original(*args, **kwargs)

    return call


DYNAMO = (
    "Detected that you are using FX to symbolically trace a dynamo-optimized function. "
    "This is not supported at the moment."
)
"""torch's words."""


def _owners_of_methods(tracer: RecoveringTracer) -> Iterator[Any]:
    """The modules of the model, and their classes but for torch's own."""
    modules = list(tracer.root.modules())
    yield from modules
    classes = dict.fromkeys(cls for module in modules for cls in type(module).__mro__)
    yield from (cls for cls in classes if not cls.__module__.startswith(("torch.", "builtins")))


def _user_modules(tracer: RecoveringTracer) -> Iterator[ModuleType]:
    """Modules of the workspace, and those that define a class of the model."""
    classes = {cls for module in tracer.root.modules() for cls in type(module).__mro__}
    of_model = {cls.__module__ for cls in classes}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or (name not in of_model and is_installed(path)):
            continue
        if tracer.places.is_shown(path):
            yield module
