"""Python's operations on a traced value, answered as in eager mode.

Where a plain proxy would refuse, they add a finding first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from types import FrameType
from typing import Any

import torch
import torch.fx
from torch.fx.proxy import TraceError

from .....report.codes import (
    CONVERSION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LENGTH,
    OPERATION_FAILS,
    TEXT_OF_PROXY,
)
from ....isolation.torch_private import FakeTensor
from ....model.capture.outputs import UNKNOWN, Unknown
from ....model.diagnosis.failures import text_of
from ....model.locations.bytecode.instructions import Instruction, instruction_of
from ....model.locations.bytecode.opcodes import unpacked_count
from ..caller_expression import CallerExpression
from ..context import GraphRecorder, NeedsDataError, RecoveryContext
from ..functions.foreign_functions import ForeignFunctions
from .branch_choice import BranchChoice
from .type_tests import TypeTests


class ProxyOperations:
    """Operations of Python on the proxies of one pass."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self.types = TypeTests(context, recorder)
        self.foreign = ForeignFunctions(context, recorder)
        self._context = context
        self._recorder = recorder
        self._branches = BranchChoice(context)
        self._compared_raw: Instruction | None = None

    def truth(self, proxy: Any) -> bool:
        """Return ``bool(proxy)``, with a finding; the likely branch if it depends on data."""
        value = self._context.value_of(proxy)
        return self._branches.truth_of(value, _error_of(lambda: self._recorder.refuse_bool(proxy)))

    def iterator(self, proxy: Any, frame: FrameType) -> Iterator[Any]:
        """Return ``iter(proxy)``; plain proxies too unpack into a fixed number of targets."""
        count = unpacked_count(instruction_of(frame))
        if count is not None:
            length = self._checked_length(proxy, count)
            known = [proxy[index] for index in range(min(count, length))]
            return iter([*known, *(self._unknown_item(proxy, index) for index in range(length, count))])
        return self.items(proxy)

    def _unknown_item(self, container: Any, key: Any) -> Any:
        """Return an item of unknown value, which the value of ``container`` does not have."""
        return self._recorder.proxy(self._context.item_node(container.node, key, UNKNOWN))

    def _checked_length(self, proxy: Any, count: int) -> int:
        """Return the number of items, with a finding if it is not ``count``."""
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
        """Return the traced items of a traced value, with a finding."""
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
        """Return ``d.items()`` or ``d.values()`` of a traced dict as items of the dict."""
        (source,) = view.node.all_input_nodes
        mapping: Any = self._recorder.proxy(source)
        keys = list(self._context.value_of(mapping))
        return iter([(key, mapping[key]) if isinstance(value, ItemsView) else mapping[key] for key in keys])

    def keys(self, proxy: Any) -> Any:
        """Return ``proxy.keys()``, which ``**proxy`` calls."""
        value = self._context.value_of(proxy)
        if self._context.is_plain or not isinstance(value, Mapping):
            return self._recorder.attribute_proxy(proxy, "keys")()
        self._context.note(ITERATION, _error_of(lambda: self._recorder.refuse_iter(proxy)))
        return list(value)

    def length(self, proxy: Any, frame: FrameType) -> int:
        """Return ``len(proxy)``, with a finding unless iteration just had one.

        ``list`` calls both.
        """
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
        """Return ``reversed(proxy)``, which requires the length of a plain proxy."""
        error = _error_of(lambda: torch.fx.Proxy.__len__(proxy))
        if self._context.is_plain:
            raise error
        self._context.note(LENGTH, error)
        value = self._context.value_of(proxy)
        if isinstance(value, (list, tuple)):
            return iter([proxy[index] for index in range(len(value) - 1, -1, -1)])
        return self._recorder.create_proxy("call_method", "__reversed__", (proxy,), {})

    def contains(self, proxy: Any, item: Any) -> bool:
        """Return ``item in proxy``, with a finding as for the iteration of a plain proxy."""
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
        """Return the integer that an index, a slice or ``range`` requires.

        torch's argument parsers call this too: they accept a plain proxy.
        """
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
        """Return ``int(proxy)`` or another conversion to a number, with a finding."""
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
        """Record ``proxy[key] = value``, with a finding."""
        error = plain_error(lambda plain: operator.setitem(plain, 0, 0))
        if self._context.is_plain:
            raise error
        self._context.note(ITEM_ASSIGNMENT, error)
        self._recorder.create_proxy("call_function", operator.setitem, (proxy, key, value), {})

    def assign_attribute(self, proxy: Any, name: str, value: Any) -> None:
        """Set an attribute of the proxy's tensor, as the model does.

        The proxy stores it too.
        """
        tensor, given = self._context.value_of(proxy), self._context.values_in(value)
        # A tensor with data cannot be used any more once it is assigned a value without.
        if isinstance(tensor, torch.Tensor) and (isinstance(tensor, FakeTensor) or not isinstance(given, FakeTensor)):
            with self._context.evaluation():
                setattr(tensor, name, given)

    def delete_item(self, proxy: Any, key: Any) -> None:
        """Record ``del proxy[key]``, with a finding."""
        error = plain_error(lambda plain: operator.delitem(plain, 0))
        if self._context.is_plain:
            raise error
        self._context.note(ITEM_ASSIGNMENT, error)
        self._recorder.create_proxy("call_function", operator.delitem, (proxy, key), {})

    def hash_of(self, proxy: Any, frame: FrameType) -> int:
        """Return the value's hash where it is the key of a lookup, else the proxy's own."""
        expression = CallerExpression(self._context.places, frame)
        if expression.is_shown and not self._context.is_plain and expression.is_subscript():
            value = self._context.value_of(proxy)
            if not isinstance(value, (torch.Tensor, Unknown)):
                if not expression.stores():
                    # As a new key a plain proxy is accepted, which no other one finds again.
                    self._context.note(INDEX, KeyError(torch.fx.Proxy.__repr__(proxy)))
                self._compared_raw = expression.instruction
                return hash(value)
        return object.__hash__(proxy)

    def equals(self, proxy: Any, other: object, frame: FrameType) -> Any:
        """Return a node of ``proxy == other``, or the result where a dict compares keys."""
        if self._compared_raw == instruction_of(frame):
            return self._context.value_of(proxy) == self._context.values_in(other)
        return self._recorder.create_proxy("call_function", operator.eq, (proxy, other), {})

    def text(self, proxy: Any, convert: Callable[[Any], str], frame: FrameType) -> str:
        """Return the value as text, with a finding unless the text is only printed."""
        expression = CallerExpression(self._context.places, frame)
        value = self._context.value_of(proxy) if expression.is_shown and not self._context.is_plain else Unknown()
        if isinstance(value, Unknown):
            return torch.fx.Proxy.__repr__(proxy)
        if not expression.is_diagnostic():
            text = f"the text {torch.fx.Proxy.__repr__(proxy)!r} is used in the place of {_short(value)}"
            self._context.note(TEXT_OF_PROXY, None, text)
        with self._context.evaluation():
            return convert(value)


def _error_of(refuse: Callable[[], Any]) -> BaseException:
    """Return torch.fx's own exception."""
    try:
        refuse()
    except Exception as error:
        return error
    return TraceError("torch.fx refuses this")


def _converts(expression: CallerExpression) -> bool:
    """Return whether the expression calls something that converts to an integer."""
    return expression.call() is not None and not expression.calls_torch()


def _length_of(value: Any) -> int | None:
    if isinstance(value, torch.Tensor):
        return int(value.shape[0]) if value.dim() else None
    return len(value) if isinstance(value, (list, tuple, str)) else None


def _short(value: Any) -> str:
    return "a tensor" if isinstance(value, torch.Tensor) else text_of(value, repr)[:40]


def plain_error(act: Any) -> BaseException:
    """Return what Python raises when ``act`` is applied to a plain ``Proxy``.

    The object has no abilities but those of a plain proxy.
    """
    try:
        act(_Bare())
    except Exception as error:
        return error
    raise AssertionError("a plain proxy would not refuse this")


class _Bare:
    """Stand-in with the name of a plain proxy."""


_Bare.__name__ = "Proxy"
