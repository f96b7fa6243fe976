"""Operations on tensors that are no proxies, as nodes: what plain torch.fx runs at once, or never sees.

These are operations on buffers and on tensors made in ``forward``, and all operations of a ``forward`` that could not
be followed with proxies and is run on its values.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.proxy import TraceError
from torch.overrides import TorchFunctionMode

from ...report.codes import CONVERSION, FOREIGN_FUNCTION, INDEX, ITEM_ASSIGNMENT, ITERATION, LENGTH
from ..construction import makes_module
from ..failures import text_of
from ..refusal_kinds import code_of_error
from ..torch_private import FakeTensor
from .proxies import REPLACED, is_proxy
from .questions import NeedsDataError
from .trees import leaves

if TYPE_CHECKING:
    from .tracer import RecoveringTracer


class Recording(TorchFunctionMode):
    """Hands every operation of the model to its tracer, but for those that proxies record themselves."""

    def __init__(self, tracer: RecoveringTracer) -> None:
        super().__init__()
        self._tracer = tracer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tracer = self._tracer
        func = getattr(func, REPLACED, func)
        if isinstance(func, torch._ops.OpOverload) and not tracer.places.is_shown(sys._getframe(1).f_code.co_filename):
            # A dispatch mode runs an operator of its own accord.
            return func(*args, **kwargs)
        if tracer.evaluating or tracer.is_plain:
            return func(*args, **kwargs)
        if makes_module(sys._getframe(1)):
            # What fills or moves a module's parameters is no operation of the forward that makes the module.
            args, kwargs = tracer.values_in((args, kwargs))
            with tracer.evaluation():
                return func(*args, **kwargs)
        if any(is_proxy(leaf) for leaf in leaves((args, kwargs))):
            return self._with_proxies(func, args, kwargs)
        if tracer.follows(args, kwargs):
            answered = self._refused(func, args)
            if answered is not None:
                return answered[0]
        return tracer.record(*node_of_call(func, args, kwargs), lambda: func(*args, **kwargs))

    def _with_proxies(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``func`` as plain torch.fx would; what it refuses, ``buffer[:n]``, is noted and becomes a node."""
        self._tracer.is_plain = True
        try:
            return func(*args, **kwargs)
        except (TypeError, IndexError, RuntimeError) as error:
            refusal = error
        finally:
            self._tracer.is_plain = False
        code = _REFUSED.get(getattr(func, "__name__", ""), code_of_error(refusal, text_of(refusal)))
        return self._tracer.passed(refusal, code, node_of_call(func, args, kwargs))

    def _refused(self, func: Any, args: tuple[Any, ...]) -> tuple[Any] | None:
        """The answer to what a plain proxy would refuse, noted; None for all else."""
        tracer, name = self._tracer, getattr(func, "__name__", "")
        value = args[0] if args else None
        if name == "__bool__":
            return (tracer.questions.truth_of(value, TraceError(_BOOL)),)
        if name == "unbind" and _is_called_by_iter(sys._getframe(2)):
            if not tracer.unpacks():
                tracer.note(ITERATION, TraceError(_ITER))
            return None
        if name == "__len__" and tracer.was_just_noted(ITERATION):
            return (len(value),) if isinstance(value, torch.Tensor) else None
        code = _REFUSED.get(name)
        if code is not None:
            tracer.note(code, TypeError(f"torch.fx's proxy does not support {name.strip('_')}()"))
            if name in _NEED_DATA and isinstance(value, FakeTensor):
                tracer.needs_data = True
                raise NeedsDataError("the number is known only when the model runs")
        return None


_BOOL = "symbolically traced variables cannot be used as inputs to control flow"
_ITER = "Proxy object cannot be iterated."
_REFUSED = {
    "__len__": LENGTH,
    "__reversed__": LENGTH,
    "__contains__": ITERATION,
    "__int__": CONVERSION,
    "__float__": CONVERSION,
    "__complex__": CONVERSION,
    "__index__": INDEX,
    "__setitem__": ITEM_ASSIGNMENT,
    "__array__": FOREIGN_FUNCTION,
}
_NEED_DATA = frozenset({"__int__", "__float__", "__complex__", "__index__", "__array__", "__contains__"})


def _is_called_by_iter(frame: FrameType) -> bool:
    """Whether ``unbind`` runs for ``iter(tensor)``."""
    return frame.f_code is torch.Tensor.__iter__.__code__


def node_of_call(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, Any, tuple[Any, ...], dict[str, Any]]:
    """Opcode, target and arguments of the node that torch.fx would make of a call of one of torch's functions."""
    name = getattr(func, "__name__", type(func).__name__)
    if name == "__get__":
        return "call_function", builtins.getattr, (args[0], func.__self__.__name__), {}
    if not torch.overrides.is_tensor_method_or_property(func):
        return "call_function", func, args, kwargs
    plain = name.strip("_")
    if name.startswith("__r") and plain[1:] in _REFLECTED and len(args) == 2:
        return "call_function", _operator(plain[1:]), (args[1], args[0]), {}
    dunder = name.startswith("__") and hasattr(operator, name)
    if dunder and not kwargs:
        return "call_function", _operator(plain), args, {}
    return "call_method", name, args, kwargs


_REFLECTED = frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"})


def _operator(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(operator, name, None) or getattr(operator, f"{name}_")
    return found
