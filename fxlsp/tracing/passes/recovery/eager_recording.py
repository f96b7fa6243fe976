"""Recorder of operations on tensors that are no proxies.

Plain torch.fx runs these at once, or never sees them: operations on buffers and on tensors made in ``forward``, and all
operations of a ``forward`` that could not be run with proxies and is run on its values.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any

import torch
from torch.fx.proxy import TraceError
from torch.overrides import TorchFunctionMode

from ....report.codes import CONVERSION, FOREIGN_FUNCTION, INDEX, ITEM_ASSIGNMENT, ITERATION, LENGTH
from ...isolation.torch_private import WITHOUT_DATA, FakeTensor, Operator
from ...model.building.construction import makes_module
from ...model.capture.costs import OperatorCosts
from ...model.diagnosis.failures import code_of_error, text_of
from ...model.locations.bytecode.opcodes import unpacked_count
from ...model.operations.operation import Operation
from .caught_errors import is_caught
from .context import GraphRecorder, NeedsDataError, NodeCall, RecoveryContext
from .functions.refused_functions import REPLACED
from .proxies.branch_choice import BranchChoice
from .pytree import is_proxy, leaves


class EagerRecording(TorchFunctionMode):
    """Mode that records all operations of the model, except those that proxies record."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        super().__init__()
        self._context = context
        self._recorder = recorder
        self._branches = BranchChoice(context)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        context = self._context
        func = getattr(func, REPLACED, func)
        if isinstance(func, Operator) and not context.places.is_shown(sys._getframe(1).f_code.co_filename):
            # A dispatch mode calls an operator by itself.
            return func(*args, **kwargs)
        if context.evaluating or context.is_plain:
            return func(*args, **kwargs)
        if makes_module(sys._getframe(1)):
            # Code that fills or moves a module's parameters is no operation of the forward that constructs the module.
            args, kwargs = context.values_in((args, kwargs))
            with context.evaluation():
                return func(*args, **kwargs)
        if getattr(func, "__name__", "") in _TEXTS:
            with context.evaluation():
                # An error that shows a value is none of fake tensors.
                return str(func(*args, **kwargs)).replace("FakeTensor(", "tensor(")
        if any(is_proxy(leaf) for leaf in leaves((args, kwargs))):
            return self._with_proxies(func, args, kwargs)
        if context.follows(args, kwargs):
            answered = self._refused(func, args)
            if answered is not None:
                return answered[0]
        return self._record(*node_of_call(func, args, kwargs), lambda: func(*args, **kwargs))

    def _with_proxies(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``func`` as plain torch.fx would; record a refusal and make a node.

        For example ``buffer[:n]``.
        """
        try:
            with self._context.plain():
                return func(*args, **kwargs)
        except (TypeError, IndexError, RuntimeError) as error:
            refusal = error
        code = _REFUSED.get(getattr(func, "__name__", ""), code_of_error(refusal, text_of(refusal)))
        return self._passed(refusal, code, node_of_call(func, args, kwargs))

    def _passed(self, refusal: BaseException, code: str, call: NodeCall) -> Any:
        """Return the proxy of a call that plain torch.fx refuses.

        The refusal is a finding unless the call itself fails as well.
        """
        proxy = self._recorder.valued_proxy(*call)
        value = self._context.evaluator.values.get(proxy.node)
        if value is None or value.error is None:
            self._context.note(code, refusal)
        return proxy

    def _record(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Run an operation on tensors; it becomes a node if tensors go in or come out."""
        context = self._context
        costs = OperatorCosts(context.evaluator.has_data)
        with context.evaluation(), costs:
            try:
                value = run()
            except WITHOUT_DATA as error:
                context.needs_data = True
                raise NeedsDataError(str(error)) from error
            except Exception as error:
                # Fake tensors refuse some of what torch does with real ones.
                value, failure = context.evaluator.repeat_on_real_tensors(kind, target, args, kwargs, error)
                if failure is not None:
                    assumed = self._assumed(Operation(kind, target, args, kwargs), failure, error)
                    if assumed is None:
                        raise
                    return assumed[0]
        if any(isinstance(leaf, torch.Tensor) for leaf in leaves((args, kwargs, value))):
            # Plain torch.fx makes no node of an operation without proxies, and so refuses nothing of it.
            with nullcontext() if context.follows(args, kwargs) else context.silent():
                node = self._recorder.unvalued_proxy(kind, target, args, kwargs).node
            context.set_value(node, value, (*args, *kwargs.values()), costs.flops)
            context.tensors.produced(node, value)
        return value

    def _assumed(self, operation: Operation, failure: BaseException, raised: BaseException) -> tuple[Any] | None:
        """Return, in a tuple, what a failed operation would yield if its operands fitted.

        None if that is unknown, or if the model itself catches the failure. ``raised`` is the error of fake tensors.
        """
        context = self._context
        args, kwargs = operation.args, dict(operation.kwargs)
        if not context.follows(args, kwargs) or is_caught(failure, context.places):
            return None
        mark = context.mark()
        node = self._recorder.unvalued_proxy(operation.op, operation.target, args, kwargs).node
        if not context.evaluator.assume(node, operation, failure):
            mismatch = context.evaluator.values[node].mismatch
            context.headlines.append((raised, "" if mismatch is None else mismatch.headline))
            context.roll_back(mark)
            return None
        value = context.evaluator.value_of(node)
        context.tensors.produced(node, value)
        return (value,)

    def _refused(self, func: Any, args: tuple[Any, ...]) -> tuple[Any] | None:
        """Return the result of what a plain proxy would refuse, in a tuple; else None."""
        context, name = self._context, getattr(func, "__name__", "")
        value = args[0] if args else None
        if name == "__bool__":
            return (self._branches.truth_of(value, TraceError(_BOOL)),)
        if name == "unbind" and _is_called_by_iter(sys._getframe(2)):
            if not self._unpacks():
                context.note(ITERATION, TraceError(_ITER))
            return None
        if name == "__len__" and context.was_just_noted(ITERATION):
            return (len(value),) if isinstance(value, torch.Tensor) else None
        code = _REFUSED.get(name)
        if code is not None:
            context.note(code, TypeError(f"torch.fx's proxy does not support {name.strip('_')}()"))
            if name in _NEED_DATA and isinstance(value, FakeTensor):
                context.needs_data = True
                raise NeedsDataError("the number is known only when the model runs")
        return None

    def _unpacks(self) -> bool:
        """Return whether the running expression unpacks into a fixed number of targets."""
        running = self._context.running_instruction()
        return running is not None and unpacked_count(running) is not None


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
_TEXTS = frozenset({"__repr__", "__str__", "__format__"})
"""Methods that yield the text of a tensor, which no graph records."""
_NEED_DATA = frozenset({"__int__", "__float__", "__complex__", "__index__", "__array__", "__contains__"})


def _is_called_by_iter(frame: FrameType) -> bool:
    """Return whether ``unbind`` runs for ``iter(tensor)``."""
    return frame.f_code is torch.Tensor.__iter__.__code__


def node_of_call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NodeCall:
    """Return opcode, target and arguments of torch.fx's node for a call of torch."""
    name = getattr(func, "__name__", type(func).__name__)
    if name == "__get__":
        return "call_function", builtins.getattr, (args[0], func.__self__.__name__), {}
    if not torch.overrides.is_tensor_method_or_property(func):
        return "call_function", func, args, kwargs
    plain = name.strip("_")
    if name.startswith("__r") and plain[1:] in _REFLECTED and len(args) == 2:
        return "call_function", _operator(plain[1:]), (args[1], args[0]), {}
    dunder = name.startswith("__") and name in vars(operator)
    if dunder and not kwargs:
        return "call_function", _operator(plain), args, {}
    return "call_method", name, args, kwargs


_REFLECTED = frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"})


def _operator(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(operator, name, None) or getattr(operator, f"{name}_")
    return found
