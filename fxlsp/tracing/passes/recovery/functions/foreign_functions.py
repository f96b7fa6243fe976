"""Calls with proxies of functions that are not torch's, mainly those of numpy and einops.

They are first tried as in plain torch.fx, where they refuse a proxy or record what cannot run. Then they run on the
values.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
import torch.fx

from .....report.codes import FOREIGN_FUNCTION, GRAPH_FAILS
from ....isolation.torch_private import FakeTensor
from ....model.capture.outputs import Unknown
from ..context import GraphRecorder, NeedsDataError, RecoveryContext
from ..pytree import is_proxy, leaves, mapped


class ForeignFunctions:
    """What numpy does with the proxies of one pass."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self._context = context
        self._recorder = recorder

    def array(self, proxy: Any, dtype: Any) -> Any:
        """Return the value as a numpy array, where numpy converts its argument."""
        self._note(proxy)
        # numpy is the caller, so it is imported; fxlsp itself does not need it.
        numpy = sys.modules["numpy"]
        return numpy.asarray(self._data(self._context.value_of(proxy)), dtype=dtype)

    def _note(self, proxy: Any) -> None:
        text = f"numpy cannot make an array of {torch.fx.Proxy.__repr__(proxy)}"
        self._context.note(FOREIGN_FUNCTION, ValueError(text))

    def _data(self, value: Any) -> Any:
        if isinstance(value, (FakeTensor, Unknown)):
            self._context.needs_data = True
            raise NeedsDataError("numpy needs data, which is there only when the model runs")
        with self._context.evaluation():
            return value.detach().numpy() if isinstance(value, torch.Tensor) else value

    def ufunc(self, proxy: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a ufunc on values, with a finding, or record it as an operator.

        ``np.sqrt(proxy)`` gives a finding; ``np.float32(2) * proxy`` is the operator that eager mode makes of it.
        """
        named = getattr(operator, _OPERATORS.get(ufunc.__name__, ufunc.__name__), None)
        if method == "__call__" and len(inputs) == 2 and not is_proxy(inputs[0]) and named is not None and not kwargs:
            return self._recorder.create_proxy("call_function", named, inputs, {})
        self._note(proxy)
        arrays = [self._data(self._context.value_of(item)) if is_proxy(item) else item for item in inputs]
        with self._context.evaluation():
            return getattr(ufunc, method)(*arrays, **kwargs)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a function such as ``np.prod(x.shape)``, with a finding of its effect."""
        self._note_outcome(function, args, kwargs)
        values, named = self._context.values_in((args, kwargs))
        data = mapped((values, named), self._data_of_tensor)
        with self._context.evaluation():
            return function(*data[0], **data[1])

    def _data_of_tensor(self, value: Any) -> Any:
        return self._data(value) if isinstance(value, (torch.Tensor, Unknown)) else value

    def _note_outcome(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Add a finding if a function refuses proxies or if its node cannot run."""
        with self._context.evaluation():
            refusal, failure = plain_outcome(function, args, kwargs, self._context.value_of)
        if refusal is not None:
            self._context.note(FOREIGN_FUNCTION, refusal)
        elif failure is not None:
            self._context.note(GRAPH_FAILS, failure)


def einops_functions() -> Iterator[tuple[ModuleType, str, Callable[..., Any]]]:
    """Yield the module, name and function of what einops offers, if it is imported.

    These ask for a tensor's type, and raise for a proxy.
    """
    module = sys.modules.get("einops")
    for name in _EINOPS if module is not None else ():
        function = getattr(module, name, None)
        if module is not None and callable(function):
            yield module, name, function


_EINOPS = ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "parse_shape", "asnumpy")


def run_on_values(context: RecoveryContext, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` with a finding where it refuses proxies; its operations on their values are recorded."""

    def call(*args: Any, **kwargs: Any) -> Any:
        given = leaves((args, kwargs))
        if context.evaluating or context.is_plain or not any(_is_followed(context, leaf) for leaf in given):
            return function(*args, **kwargs)
        with context.evaluation():
            refusal = _refusal(function, context, args, kwargs)
        if refusal is None:
            return function(*args, **kwargs)
        context.note(FOREIGN_FUNCTION, refusal)
        values, named = context.tensors_in((args, kwargs))
        result = function(*values, **named)
        return context.proxies_in(result) if any(is_proxy(leaf) for leaf in given) else result

    return call


def _refusal(
    function: Callable[..., Any], context: RecoveryContext, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception | None:
    """Return what ``function`` raises for torch.fx's own proxies; None if it takes them."""
    graph = torch.fx.Graph()
    proxy = torch.fx.Proxy(graph.placeholder("input"), torch.fx.proxy.GraphAppendingTracer(graph))
    plain, named = mapped((args, kwargs), lambda leaf: proxy if _is_followed(context, leaf) else leaf)
    try:
        function(*plain, **named)
    except Exception as error:
        return error
    return None


def _is_followed(context: RecoveryContext, leaf: Any) -> bool:
    """Return whether plain torch.fx has a proxy for an argument."""
    return is_proxy(leaf) or context.follows(leaf)


def plain_outcome(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], values: Callable[[Any], Any]
) -> tuple[BaseException | None, BaseException | None]:
    """Return what ``function`` raises for plain proxies, and what its graph raises.

    ``values`` returns the value of a proxy. Both results are None if plain torch.fx succeeds.
    """
    graph = torch.fx.Graph()
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    inputs: list[Any] = []

    def plain(leaf: Any) -> Any:
        if not is_proxy(leaf):
            return leaf
        inputs.append(values(leaf))
        return torch.fx.Proxy(graph.placeholder(f"input_{len(inputs)}"), tracer)

    try:
        result = function(*mapped(args, plain), **mapped(kwargs, plain))
        graph.output(result.node if isinstance(result, torch.fx.Proxy) else None)
    except Exception as error:
        return error, None
    try:
        interpreter = torch.fx.Interpreter(torch.nn.Module(), graph=graph)
        # It would add the node of this graph that ran to the error's message.
        interpreter.extra_traceback = False
        interpreter.run(*inputs)
    except Exception as error:
        return None, error
    return None, None


_OPERATORS = {
    "multiply": "mul",
    "divide": "truediv",
    "true_divide": "truediv",
    "subtract": "sub",
    "floor_divide": "floordiv",
    "power": "pow",
    "remainder": "mod",
    "greater": "gt",
    "less": "lt",
    "greater_equal": "ge",
    "less_equal": "le",
    "equal": "eq",
    "not_equal": "ne",
}
"""Names of operators by the names of numpy's functions."""
