"""Replacements of functions that refuse proxies: torch's, and those of einops.

They refuse by their argument parsers or by what they do. They are tried as they are; a refusal becomes a finding, and
the call a node.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import torch

from .....report.codes import COMPILED, FACTORY, FOREIGN_FUNCTION, INDEX, ITERATION, TRANSFORM
from ....isolation.torch_private.modules import compiled_function
from ....model import module_tree
from ....model.locations.code_origin import is_installed
from ..context import GraphRecorder, RecoveryContext
from ..pytree import is_proxy, leaves
from .builtin_shadows import shadows_for
from .foreign_functions import einops_functions, run_on_values

REPLACED = "_fxlsp_replaced"
"""Attribute of a function that replaces one of torch's during a pass: the replaced function.

torch's C++ code looks a method up on ``torch.Tensor`` by its name to pass it on, and so finds the replacement.
"""

_FACTORIES = (
    *("tensor", "as_tensor", "scalar_tensor", "zeros", "ones", "empty", "full", "rand", "randn", "randint"),
    *("randperm", "arange", "linspace", "logspace", "eye", "from_numpy", "complex"),
)
_METHODS = (
    *("expand", "repeat", "view", "reshape", "permute", "tile", "unflatten"),
    *("new_zeros", "new_ones", "new_empty", "new_full"),
)
"""Methods of tensors that take sizes one by one: of a tensor that is no proxy they refuse a size that is one."""
_UNBOUND = re.compile(r"\bTensor\s*\.\s*([a-z]\w*)")
_TRANSFORMS = ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")


class RefusedFunctions:
    """Replacements that add a finding for a refusal and make a node all the same."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self._context = context
        self._recorder = recorder

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Install the replacements in this context, under all names in the model's code."""
        restore: list[tuple[Any, str, Any]] = []

        def replace(owner: Any, name: str, value: Any) -> None:
            restore.append((owner, name, owner.__dict__.get(name, _MISSING)))
            setattr(owner, name, value)

        replaced = self._replacements()
        for owner, name, _, replacement in replaced:
            replace(owner, name, replacement)
        by_identity = {
            id(original): replacement for _, _, original, replacement in replaced if not isinstance(original, type)
        }
        for module in self._user_modules():
            for name, value in list(vars(module).items()):
                replacement = by_identity.get(id(value)) or self._compiled(value)
                if replacement is not None:
                    replace(module, name, replacement)
            for name, shadow in shadows_for(self._context, module, self._context.places.text_of(module)).items():
                replace(module, name, shadow)
        for owner in self._owners_of_methods():
            for name, value in list(vars(owner).items()):
                replacement = self._compiled(value)
                if replacement is not None:
                    replace(owner, name, replacement)
        try:
            yield
        finally:
            for owner, name, value in reversed(restore):
                if value is _MISSING:
                    delattr(owner, name)
                else:
                    setattr(owner, name, value)

    def _replacements(self) -> list[tuple[Any, str, Any, Any]]:
        """Return owner, name, original and replacement of each function."""
        found: list[tuple[Any, str, Any, Any]] = []
        for name in _FACTORIES:
            original = getattr(torch, name, None)
            if original is not None and not isinstance(original, type):
                found.append((torch, name, original, self._replacement(original, "call_function", original, FACTORY)))
        for name in (*_METHODS, *self._unbound_methods()):
            original = getattr(torch.Tensor, name)
            found.append((torch.Tensor, name, original, self._replacement(original, "call_method", name, FACTORY)))
        for owner in (torch, torch.func):
            for name in _TRANSFORMS:
                original = getattr(owner, name, None)
                if original is not None:
                    found.append((owner, name, original, self._transform(original)))
        for module, name, original in einops_functions():
            found.append((module, name, original, run_on_values(self._context, original)))
        found.append((torch, "cond", torch.cond, self._cond()))
        found.append((torch.nn.ParameterDict, "__getitem__", torch.nn.ParameterDict.__getitem__, self._item()))
        found.append((torch.nn.Module, "__setattr__", torch.nn.Module.__setattr__, _setattr_with_proxies()))
        return found

    def _unbound_methods(self) -> list[str]:
        """Return the methods of C that the user's code calls by the class: ``torch.Tensor.flip(x, [0])``."""
        texts = (self._context.places.text_of(module) for module in self._user_modules())
        names = dict.fromkeys(name for text in texts for name in _UNBOUND.findall(text or ""))
        methods = {name: getattr(torch.Tensor, name, None) for name in names if name not in _METHODS}
        return [name for name, method in methods.items() if isinstance(method, MethodDescriptorType)]

    def _replacement(self, original: Any, kind: str, target: Any, code: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._context.evaluating or not any(is_proxy(leaf) for leaf in leaves((args, kwargs))):
                return original(*args, **kwargs)
            # ``torch.Tensor.view(x, 1)`` of a traced value: a method that C defines takes tensors alone.
            is_unbound = kind == "call_method" and bool(args) and is_proxy(args[0])
            return self._refused(original, kind, target, FOREIGN_FUNCTION if is_unbound else code, args, kwargs)

        call.__name__ = getattr(original, "__name__", "call")
        setattr(call, REPLACED, original)
        return call

    def _refused(
        self, original: Any, kind: str, target: Any, code: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call ``original`` as plain torch.fx would; record a refusal and make a node."""
        mark = self._context.mark()
        try:
            with self._context.plain():
                return original(*args, **kwargs)
        except Exception as raised:
            error = raised
        self._context.roll_back(mark)
        if not self._has_starred(code):
            self._context.note(code, error)
        return self._recorder.create_proxy(kind, target, args, kwargs)

    def _has_starred(self, code: str) -> bool:
        """Return whether the refused call iterates to unpack: ``torch.zeros(*x.shape)``."""
        last, running = self._context.findings.last, self._context.running_instruction()
        if code != FACTORY or last is None or last.code != ITERATION or running is None or not last.call_stack:
            return False
        places = self._context.places
        return places.locate(*last.call_stack[-1][:2]) == places.locate(*running[:2])

    def _transform(self, original: Any) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            function = original(*args, **kwargs)
            return self._replacement(function, "call_function", function, TRANSFORM) if callable(function) else function

        return make

    def _cond(self) -> Callable[..., Any]:
        original = torch.cond

        def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
            if not any(is_proxy(leaf) for leaf in leaves((pred, operands))):
                return original(pred, true_fn, false_fn, operands)
            self._context.note_refusal(lambda: original(pred, true_fn, false_fn, operands), TRANSFORM)
            with self._context.silent():
                side = true_fn if bool(pred) else false_fn
            return side(*operands)

        return cond

    def _item(self) -> Callable[..., Any]:
        """Return a ``ParameterDict.__getitem__`` that takes a traced string, with a finding."""
        original = torch.nn.ParameterDict.__getitem__

        def item(parameters: torch.nn.ParameterDict, key: Any) -> Any:
            if not is_proxy(key) or self._context.is_plain:
                return original(parameters, key)
            value = self._context.value_of(key)
            if isinstance(value, str):
                self._context.note_refusal(lambda: original(parameters, key), INDEX)
                return original(parameters, value)
            return original(parameters, key)

        return item

    def _compiled(self, value: Any) -> Callable[..., Any] | None:
        """Return a replacement for a scripted or compiled function; None for other values."""
        if not isinstance(value, FunctionType | torch.jit.ScriptFunction):
            return None
        if isinstance(value, torch.jit.ScriptFunction):
            if not hasattr(value, "__name__"):
                # torch.fx names the node by this attribute, which older versions of torch do not set.
                value.__name__ = value.name  # type: ignore[attr-defined]
            return self._replacement(value, "call_function", value, COMPILED)
        original = compiled_function(value)
        if original is None:
            return None

        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._context.evaluating:
                self._context.note(COMPILED, RuntimeError(DYNAMO))
            return original(*args, **kwargs)

        return call

    def _owners_of_methods(self) -> Iterator[Any]:
        """Yield the modules of the model, and their classes except torch's own."""
        registered = list(module_tree.modules(self._recorder.root))
        yield from registered
        classes = dict.fromkeys(cls for module in registered for cls in type(module).__mro__)
        yield from (cls for cls in classes if not cls.__module__.startswith(("torch.", "builtins")))

    def _user_modules(self) -> Iterator[ModuleType]:
        """Yield modules of the workspace, and those that define the model's classes."""
        classes = {cls for module in module_tree.modules(self._recorder.root) for cls in type(module).__mro__}
        of_model = {cls.__module__ for cls in classes}
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if not isinstance(path, str) or (name not in of_model and is_installed(path)):
                continue
            if self._context.places.is_shown(path):
                yield module


_MISSING = object()

DYNAMO = (
    "Detected that you are using FX to symbolically trace a dynamo-optimized function. "
    "This is not supported at the moment."
)
"""torch's message."""


def _setattr_with_proxies() -> Callable[..., None]:
    """Return a ``Module.__setattr__`` that lets buffers be proxies.

    Newer versions of torch do so too; a check reports that.
    """
    original = torch.nn.Module.__setattr__

    def assign(module: torch.nn.Module, name: str, value: Any) -> None:
        if is_proxy(vars(module).get(name)):
            # Of a forward that could not be run with proxies: torch registers no buffer under a name that is there.
            del vars(module)[name]
        try:
            original(module, name, value)
        except TypeError:
            if not is_proxy(value) or name not in module._buffers:
                raise
            module._buffers[name] = value

    return assign
