"""Python's operations on a traced value: noted where a plain proxy would refuse, then answered as eager has it."""

from __future__ import annotations

import operator
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from types import FrameType
from typing import Any

import torch
import torch.fx
from torch.fx.proxy import TraceError

from ....report.codes import (
    CONVERSION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LENGTH,
    OPERATION_FAILS,
    TEXT_OF_PROXY,
)
from ...plain_pass.outputs import UNKNOWN, Unknown
from ...torch_private import FakeTensor
from ..context import GraphRecorder, NeedsDataError, RecoveryContext
from ..foreign_functions import ForeignFunctions
from .branch_choice import BranchChoice
from .caller_expression import CallerExpression, unpacked_count
from .type_tests import TypeTests


class ProxyOperations:
    """What the proxies of one pass do when Python operates on them."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self.types = TypeTests(context, recorder)
        self.foreign = ForeignFunctions(context, recorder)
        self._context = context
        self._recorder = recorder
        self._branches = BranchChoice(context)
        self._compared_raw: tuple[object, int] | None = None

    def truth(self, proxy: Any) -> bool:
        """``bool(proxy)``: noted; where only data could decide, the likely side."""
        value = self._context.value_of(proxy)
        return self._branches.truth_of(value, _error_of(lambda: self._recorder.refuse_bool(proxy)))

    def iterator(self, proxy: Any, frame: FrameType) -> Iterator[Any]:
        """``iter(proxy)``; unpacking into a fixed number of targets is what a plain proxy does too."""
        count = unpacked_count(frame)
        if count is not None:
            length = self._checked_length(proxy, count)
            known = [proxy[index] for index in range(min(count, length))]
            return iter([*known, *(self._unknown_item(proxy, index) for index in range(length, count))])
        return self.items(proxy)

    def _unknown_item(self, container: Any, key: Any) -> Any:
        """An item that the value of ``container`` does not have."""
        return self._recorder.proxy(self._context.item_node(container.node, key, UNKNOWN))

    def _checked_length(self, proxy: Any, count: int) -> int:
        """The number of items; another than ``count`` is noted."""
        with self._context.evaluation():
            length = _length_of(self._context.value_of(proxy))
        if length is not None and length != count:
            wanted = f"expected {count}"
            few = f"not enough values to unpack ({wanted}, got {length})"
            self._context.note(
                OPERATION_FAILS, ValueError(f"too many values to unpack ({wanted})" if length > count else few)
            )
        return count if length is None else length

    def items(self, proxy: Any) -> Iterator[Any]:
        """The items of a traced value, each of them traced: noted."""
        error = _error_of(lambda: self._recorder.refuse_iter(proxy))
        if self._context.is_plain:
            raise error
        self._context.note(ITERATION, error)
        value = self._context.value_of(proxy)
        if isinstance(value, torch.Tensor):
            with self._context.evaluation():
                count = len(value)
            rows: Any = self._recorder.create_proxy("call_method", "unbind", (proxy,), {})
            return iter([rows[index] for index in range(count)])
        if isinstance(value, Mapping):
            return iter(list(value))
        if isinstance(value, (list, tuple)):
            return iter([proxy[index] for index in range(len(value))])
        if isinstance(value, (ItemsView, ValuesView)):
            return self._view_items(proxy, value)
        return iter(()) if isinstance(value, Unknown) else iter(value)

    def _view_items(self, view: Any, value: ItemsView[Any, Any] | ValuesView[Any]) -> Iterator[Any]:
        """What ``d.items()`` and ``d.values()`` of a traced dict give: items of the dict."""
        (source,) = view.node.all_input_nodes
        mapping: Any = self._recorder.proxy(source)
        keys = list(self._context.value_of(mapping))
        return iter([(key, mapping[key]) if isinstance(value, ItemsView) else mapping[key] for key in keys])

    def keys(self, proxy: Any) -> Any:
        """``proxy.keys()``, which ``**proxy`` calls."""
        value = self._context.value_of(proxy)
        if self._context.is_plain or not isinstance(value, Mapping):
            return self._recorder.attribute_proxy(proxy, "keys")()
        self._context.note(ITERATION, _error_of(lambda: self._recorder.refuse_iter(proxy)))
        return list(value)

    def length(self, proxy: Any, frame: FrameType) -> int:
        """``len(proxy)``: noted, unless iterating just was, as ``list`` asks for both."""
        error = _error_of(lambda: torch.fx.Proxy.__len__(proxy))
        if self._context.is_plain:
            raise error
        value = self._context.value_of(proxy)
        if not self._context.was_just_noted(ITERATION):
            self._context.note(LENGTH, error)
        if isinstance(value, Unknown):
            raise error
        with self._context.evaluation():
            return len(value)

    def reversed(self, proxy: Any) -> Any:
        """``reversed(proxy)``, which needs the length of a plain proxy."""
        error = _error_of(lambda: torch.fx.Proxy.__len__(proxy))
        if self._context.is_plain:
            raise error
        self._context.note(LENGTH, error)
        value = self._context.value_of(proxy)
        if isinstance(value, (list, tuple)):
            return iter([proxy[index] for index in range(len(value) - 1, -1, -1)])
        return self._recorder.create_proxy("call_method", "__reversed__", (proxy,), {})

    def contains(self, proxy: Any, item: Any) -> bool:
        """``item in proxy``: noted as the iteration that a plain proxy would need."""
        error = _error_of(lambda: self._recorder.refuse_iter(proxy))
        if self._context.is_plain:
            raise error
        self._context.note(ITERATION, error)
        value, wanted = self._context.value_of(proxy), self._context.values_in(item)
        if isinstance(value, FakeTensor) or isinstance(wanted, FakeTensor):
            return self._branches.truth_of(Unknown(), error)
        with self._context.evaluation():
            return wanted in value

    def index(self, proxy: Any, frame: FrameType) -> int:
        """What an index, a slice or ``range`` asks for. torch's argument parsers ask too: they take a plain proxy."""
        expression = CallerExpression(self._context.places, frame)
        error = plain_error((lambda plain: [0][:plain]) if expression.is_slice() else operator.index)
        if (
            self._context.is_plain
            or not expression.is_shown
            or not (expression.is_subscript() or _converts(expression))
        ):
            raise error
        self._context.note(INDEX, error)
        return int(self._number(proxy, int))

    def number(self, proxy: Any, convert: Callable[[Any], Any]) -> Any:
        """``int(proxy)`` and its like."""
        error = plain_error(convert)
        if self._context.is_plain:
            raise error
        self._context.note(CONVERSION, error)
        return self._number(proxy, convert)

    def _number(self, proxy: Any, convert: Callable[[Any], Any]) -> Any:
        value = self._context.value_of(proxy)
        if isinstance(value, (FakeTensor, Unknown)):
            self._context.needs_data = True
            raise NeedsDataError("the number is known only when the model runs")
        with self._context.evaluation():
            return convert(value)

    def assign_item(self, proxy: Any, key: Any, value: Any) -> None:
        """``proxy[key] = value``."""
        error = plain_error(lambda plain: operator.setitem(plain, 0, 0))
        if self._context.is_plain:
            raise error
        self._context.note(ITEM_ASSIGNMENT, error)
        self._recorder.create_proxy("call_function", operator.setitem, (proxy, key, value), {})

    def assign_attribute(self, proxy: Any, name: str, value: Any) -> None:
        """``proxy.name = value``, which the proxy keeps: its tensor is given it too, as the model does."""
        tensor, given = self._context.value_of(proxy), self._context.values_in(value)
        # A tensor with data that is given some without cannot be used any more.
        if isinstance(tensor, torch.Tensor) and (isinstance(tensor, FakeTensor) or not isinstance(given, FakeTensor)):
            with self._context.evaluation():
                setattr(tensor, name, given)

    def delete_item(self, proxy: Any, key: Any) -> None:
        """``del proxy[key]``."""
        error = plain_error(lambda plain: operator.delitem(plain, 0))
        if self._context.is_plain:
            raise error
        self._context.note(ITEM_ASSIGNMENT, error)
        self._recorder.create_proxy("call_function", operator.delitem, (proxy, key), {})

    def hash_of(self, proxy: Any, frame: FrameType) -> int:
        """The value's hash where an item of a dict is looked up by it, else the proxy's own."""
        expression = CallerExpression(self._context.places, frame)
        if expression.is_shown and not self._context.is_plain and expression.is_subscript():
            value = self._context.value_of(proxy)
            if not isinstance(value, (torch.Tensor, Unknown)):
                self._context.note(INDEX, KeyError(torch.fx.Proxy.__repr__(proxy)))
                self._compared_raw = (frame.f_code, frame.f_lasti)
                return hash(value)
        return object.__hash__(proxy)

    def equals(self, proxy: Any, other: object, frame: FrameType) -> Any:
        """A node, unless a dict compares its keys."""
        if self._compared_raw == (frame.f_code, frame.f_lasti):
            return self._context.value_of(proxy) == self._context.values_in(other)
        return self._recorder.create_proxy("call_function", operator.eq, (proxy, other), {})

    def text(self, proxy: Any, convert: Callable[[Any], str], frame: FrameType) -> str:
        """The value as text: noted where the text is used, not only shown to a person."""
        expression = CallerExpression(self._context.places, frame)
        value = self._context.value_of(proxy) if expression.is_shown and not self._context.is_plain else Unknown()
        if isinstance(value, Unknown):
            return torch.fx.Proxy.__repr__(proxy)
        if not expression.is_diagnostic():
            words = f"the text {torch.fx.Proxy.__repr__(proxy)!r} is used in the place of {_short(value)}"
            self._context.note(TEXT_OF_PROXY, None, words)
        with self._context.evaluation():
            return convert(value)


def _error_of(refuse: Callable[[], Any]) -> BaseException:
    """torch.fx's own exception."""
    try:
        refuse()
    except Exception as error:
        return error
    return TraceError("torch.fx refuses this")


def _converts(expression: CallerExpression) -> bool:
    """Whether the expression calls something that makes a Python integer of its argument."""
    return expression.call() is not None and not expression.calls_torch()


def _length_of(value: Any) -> int | None:
    if isinstance(value, torch.Tensor):
        return int(value.shape[0]) if value.dim() else None
    return len(value) if isinstance(value, (list, tuple, str)) else None


def _short(value: Any) -> str:
    return "a tensor" if isinstance(value, torch.Tensor) else repr(value)[:40]


def plain_error(act: Any) -> BaseException:
    """What Python raises when ``act`` is done to an object with the abilities of a plain ``Proxy``."""
    try:
        act(_Bare())
    except Exception as error:
        return error
    raise AssertionError("a plain proxy would not refuse this")


class _Bare:
    """A stand-in with the name of a plain proxy."""


_Bare.__name__ = "Proxy"
