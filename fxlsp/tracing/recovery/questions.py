"""What Python asks of a traced value: noted where a plain proxy would refuse, then answered as eager has it."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
import torch.fx
from torch.fx.proxy import TraceError

from ...report.codes import (
    CONTROL_FLOW,
    CONVERSION,
    FOREIGN_FUNCTION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LENGTH,
    OPERATION_FAILS,
    TEXT_OF_PROXY,
    TYPE_TEST,
)
from ..frames import Places
from ..outputs import Unknown
from ..torch_private import FakeTensor
from .asking import UNRESOLVED, Asking, plain_error
from .choices import likely_side
from .proxies import ValueAttribute, ValueProxy, is_proxy

if TYPE_CHECKING:
    from .tracer import RecoveringTracer


class NeedsDataError(Exception):
    """A Python number is wanted of a tensor that has no data."""


class Questions:
    """Asked by the proxies of one pass."""

    def __init__(self, tracer: RecoveringTracer) -> None:
        self._tracer = tracer
        self._compared_raw: tuple[object, int] | None = None

    def truth(self, proxy: Any) -> bool:
        """``bool(proxy)``: noted; where only data could tell, the likely side."""
        value = self._tracer.value_of(proxy)
        return self.truth_of(value, _words(lambda: self._tracer.refuse_bool(proxy)))

    def truth_of(self, value: Any, error: BaseException | None) -> bool:
        """The truth of a value, which plain torch.fx refuses with ``error``."""
        known = self._known_truth(value)
        if known is not None:
            self._tracer.note(CONTROL_FLOW, error)
            return known
        self._tracer.needs_data = True
        instruction = self._tracer.running_instruction()
        places = self._tracer.places
        statement = None if instruction is None else places.statement_of(instruction)
        side = likely_side(None if instruction is None else places.syntax_of(instruction), statement)
        remark = f"Only data could tell; what follows is shown as if it were {side}."
        self._tracer.note(CONTROL_FLOW, error, remark)
        return side

    def _known_truth(self, value: Any) -> bool | None:
        if isinstance(value, Unknown):
            return None
        with self._tracer.evaluation():
            return None if isinstance(value, FakeTensor) and value.numel() == 1 else bool(value)

    def iterator(self, proxy: Any, frame: FrameType) -> Iterator[Any]:
        """``iter(proxy)``; unpacking into a fixed number of targets is what a plain proxy does too."""
        count = self._tracer.unpacked_count(frame)
        if count is not None:
            length = self._checked_length(proxy, count)
            known = [proxy[index] for index in range(min(count, length))]
            return iter([*known, *(self._tracer.unknown_item(proxy, index) for index in range(length, count))])
        return self.items(proxy)

    def _checked_length(self, proxy: Any, count: int) -> int:
        """The number of items; another than ``count`` is noted."""
        with self._tracer.evaluation():
            length = _length_of(self._tracer.value_of(proxy))
        if length is not None and length != count:
            wanted = f"expected {count}"
            few = f"not enough values to unpack ({wanted}, got {length})"
            self._tracer.note(
                OPERATION_FAILS, ValueError(f"too many values to unpack ({wanted})" if length > count else few)
            )
        return count if length is None else length

    def items(self, proxy: Any) -> Iterator[Any]:
        """The items of a traced value, each of them traced: noted."""
        error = _words(lambda: self._tracer.refuse_iter(proxy))
        if self._tracer.is_plain:
            raise error
        self._tracer.note(ITERATION, error)
        value = self._tracer.value_of(proxy)
        if isinstance(value, torch.Tensor):
            with self._tracer.evaluation():
                count = len(value)
            rows: Any = self._tracer.create_proxy("call_method", "unbind", (proxy,), {})
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
        mapping: Any = ValueProxy(source, self._tracer)
        keys = list(self._tracer.value_of(mapping))
        return iter([(key, mapping[key]) if isinstance(value, ItemsView) else mapping[key] for key in keys])

    def keys(self, proxy: Any) -> Any:
        """``proxy.keys()``, which is what ``**proxy`` asks for."""
        value = self._tracer.value_of(proxy)
        if self._tracer.is_plain or not isinstance(value, Mapping):
            return ValueAttribute(proxy, "keys")()
        self._tracer.note(ITERATION, _words(lambda: self._tracer.refuse_iter(proxy)))
        return list(value)

    def length(self, proxy: Any, frame: FrameType) -> int:
        """``len(proxy)``: noted, unless iterating just was, as ``list`` asks for both."""
        error = _words(lambda: torch.fx.Proxy.__len__(proxy))
        if self._tracer.is_plain:
            raise error
        value = self._tracer.value_of(proxy)
        if not self._tracer.was_just_noted(ITERATION):
            self._tracer.note(LENGTH, error)
        if isinstance(value, Unknown):
            raise error
        with self._tracer.evaluation():
            return len(value)

    def reversed(self, proxy: Any) -> Any:
        """``reversed(proxy)``, which asks a plain proxy for its length."""
        error = _words(lambda: torch.fx.Proxy.__len__(proxy))
        if self._tracer.is_plain:
            raise error
        self._tracer.note(LENGTH, error)
        value = self._tracer.value_of(proxy)
        if isinstance(value, (list, tuple)):
            return iter([proxy[index] for index in range(len(value) - 1, -1, -1)])
        return self._tracer.create_proxy("call_method", "__reversed__", (proxy,), {})

    def contains(self, proxy: Any, item: Any) -> bool:
        """``item in proxy``: noted as the iteration that a plain proxy would need."""
        error = _words(lambda: self._tracer.refuse_iter(proxy))
        if self._tracer.is_plain:
            raise error
        self._tracer.note(ITERATION, error)
        value, wanted = self._tracer.value_of(proxy), self._tracer.values_in(item)
        if isinstance(value, FakeTensor) or isinstance(wanted, FakeTensor):
            return self.truth_of(Unknown(), error)
        with self._tracer.evaluation():
            return wanted in value

    def index(self, proxy: Any, frame: FrameType) -> int:
        """What an index, a slice or ``range`` asks for. torch's argument parsers ask too: they take a plain proxy."""
        asking = Asking(self._tracer.places, frame)
        error = plain_error((lambda plain: [0][:plain]) if asking.is_slice() else operator.index)
        if self._tracer.is_plain or not asking.is_shown or not (asking.is_subscript() or _converts(asking)):
            raise error
        self._tracer.note(INDEX, error)
        return int(self._number(proxy, int))

    def number(self, proxy: Any, convert: Callable[[Any], Any]) -> Any:
        """``int(proxy)`` and its like."""
        error = plain_error(convert)
        if self._tracer.is_plain:
            raise error
        self._tracer.note(CONVERSION, error)
        return self._number(proxy, convert)

    def _number(self, proxy: Any, convert: Callable[[Any], Any]) -> Any:
        value = self._tracer.value_of(proxy)
        if isinstance(value, (FakeTensor, Unknown)):
            self._tracer.needs_data = True
            raise NeedsDataError("the number is known only when the model runs")
        with self._tracer.evaluation():
            return convert(value)

    def assign_item(self, proxy: Any, key: Any, value: Any) -> None:
        """``proxy[key] = value``."""
        error = plain_error(lambda plain: operator.setitem(plain, 0, 0))
        if self._tracer.is_plain:
            raise error
        self._tracer.note(ITEM_ASSIGNMENT, error)
        self._tracer.create_proxy("call_function", operator.setitem, (proxy, key, value), {})

    def assign_attribute(self, proxy: Any, name: str, value: Any) -> None:
        """``proxy.name = value``, which the proxy keeps: its tensor is given it too, as the model does."""
        tensor, given = self._tracer.value_of(proxy), self._tracer.values_in(value)
        # A tensor with data that is given some without is no use to anybody any more.
        if isinstance(tensor, torch.Tensor) and (isinstance(tensor, FakeTensor) or not isinstance(given, FakeTensor)):
            with self._tracer.evaluation():
                setattr(tensor, name, given)

    def delete_item(self, proxy: Any, key: Any) -> None:
        """``del proxy[key]``."""
        error = plain_error(lambda plain: operator.delitem(plain, 0))
        if self._tracer.is_plain:
            raise error
        self._tracer.note(ITEM_ASSIGNMENT, error)
        self._tracer.create_proxy("call_function", operator.delitem, (proxy, key), {})

    def hash_of(self, proxy: Any, frame: FrameType) -> int:
        """The value's hash where an item of a dict is looked up by it, else the proxy's own."""
        asking = Asking(self._tracer.places, frame)
        if asking.is_shown and not self._tracer.is_plain and asking.is_subscript():
            value = self._tracer.value_of(proxy)
            if not isinstance(value, (torch.Tensor, Unknown)):
                self._tracer.note(INDEX, KeyError(torch.fx.Proxy.__repr__(proxy)))
                self._compared_raw = (frame.f_code, frame.f_lasti)
                return hash(value)
        return object.__hash__(proxy)

    def equals(self, proxy: Any, other: object, frame: FrameType) -> Any:
        """A node, unless a dict compares its keys."""
        if self._compared_raw == (frame.f_code, frame.f_lasti):
            return self._tracer.value_of(proxy) == self._tracer.values_in(other)
        return self._tracer.create_proxy("call_function", operator.eq, (proxy, other), {})

    def text(self, proxy: Any, tell: Callable[[Any], str], frame: FrameType) -> str:
        """The value as text: noted where the text is used and not just told to somebody."""
        asking = Asking(self._tracer.places, frame)
        value = self._tracer.value_of(proxy) if asking.is_shown and not self._tracer.is_plain else Unknown()
        if isinstance(value, Unknown):
            return torch.fx.Proxy.__repr__(proxy)
        if not asking.only_tells():
            words = f"the text {torch.fx.Proxy.__repr__(proxy)!r} is used in the place of {_short(value)}"
            self._tracer.note(TEXT_OF_PROXY, None, words)
        with self._tracer.evaluation():
            return tell(value)

    def array(self, proxy: Any, dtype: Any) -> Any:
        """The value as a numpy array, where numpy makes one of its argument."""
        self._note_numpy(proxy)
        # It is numpy that asks, so it is there; nothing of ours needs it.
        numpy = sys.modules["numpy"]
        return numpy.asarray(self._data(self._tracer.value_of(proxy)), dtype=dtype)

    def _note_numpy(self, proxy: Any) -> None:
        words = f"numpy cannot make an array of {torch.fx.Proxy.__repr__(proxy)}"
        self._tracer.note(FOREIGN_FUNCTION, ValueError(words))

    def _data(self, value: Any) -> Any:
        if isinstance(value, (FakeTensor, Unknown)):
            self._tracer.needs_data = True
            raise NeedsDataError("numpy needs data, which is there only when the model runs")
        with self._tracer.evaluation():
            return value.detach().numpy() if isinstance(value, torch.Tensor) else value

    def numpy_ufunc(
        self, proxy: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """``np.sqrt(proxy)`` is noted; ``np.float32(2) * proxy`` is the operator that eager makes of it."""
        named = getattr(operator, _OPERATORS.get(ufunc.__name__, ufunc.__name__), None)
        if method == "__call__" and len(inputs) == 2 and not is_proxy(inputs[0]) and named is not None and not kwargs:
            return self._tracer.create_proxy("call_function", named, inputs, {})
        self._note_numpy(proxy)
        arrays = [self._data(self._tracer.value_of(item)) if is_proxy(item) else item for item in inputs]
        with self._tracer.evaluation():
            return getattr(ufunc, method)(*arrays, **kwargs)

    def numpy_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``np.prod(x.shape)``: noted as what comes of it in the graph."""
        self._tracer.note_foreign(function, args, kwargs)
        values, named = self._tracer.values_in((args, kwargs))
        data = self._tracer.mapped((values, named), self._data_of_tensor)
        with self._tracer.evaluation():
            return function(*data[0], **data[1])

    def _data_of_tensor(self, value: Any) -> Any:
        return self._data(value) if isinstance(value, (torch.Tensor, Unknown)) else value

    def class_of(self, proxy: Any, frame: FrameType) -> type:
        """The class of the value: eager's answer to ``isinstance``; noted where a plain proxy gives another."""
        if self._tracer.is_plain:
            return type(proxy)
        value = self._tracer.value_of(proxy)
        if isinstance(value, Unknown):
            return type(proxy)
        wanted = _type_wanted(self._tracer.places, frame)
        self._note_type_test(value, wanted)
        if not isinstance(value, torch.Tensor):
            return type(value)
        # torch's C++ code asks the same question, and takes whatever answers to Tensor for one in memory.
        if not _asks_in_python(self._tracer.places, frame):
            return type(proxy)
        if _is_tensor_type(wanted):
            raise NeedsDataError("only a tensor itself can tell whether it is a torch.FloatTensor, or its like")
        return torch.nn.Parameter if isinstance(value, torch.nn.Parameter) else torch.Tensor

    def _note_type_test(self, value: Any, wanted: Any) -> None:
        if wanted is UNRESOLVED:
            return
        answer = isinstance(value, wanted)
        if answer != issubclass(torch.fx.Proxy, wanted):
            words = (
                f"this test is {answer} for the {_kind(value)} that is passed, and {not answer} for torch.fx's proxy"
            )
            self._tracer.note(TYPE_TEST, None, words)

    def attribute(self, proxy: Any, name: str, frame: FrameType) -> Any:
        """``proxy.name``: a node once it is used, as in plain torch.fx, unless the value is known to have none."""
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value = self._tracer.value_of(proxy)
        if self._tracer.is_plain or isinstance(value, Unknown):
            return ValueAttribute(proxy, name)
        if self._has(value, name):
            is_itself, found = self._compared(value, name, frame)
            return found if is_itself else ValueAttribute(proxy, name)
        asking = Asking(self._tracer.places, frame)
        missing = AttributeError(f"'{_kind(value)}' object has no attribute '{name}'")
        if not asking.is_shown:
            raise missing
        if asking.called() in ("hasattr", "getattr"):
            words = f"torch.fx's proxy has every attribute, the {_kind(value)} that is passed has no '{name}'"
            self._tracer.note(TYPE_TEST, None, words)
            raise missing
        return ValueAttribute(proxy, name)

    def _compared(self, value: Any, name: str, frame: FrameType) -> tuple[bool, Any]:
        """Whether ``is`` asks for an attribute of which there is only one, and then the attribute itself."""
        with self._tracer.evaluation():
            found = getattr(value, name)
        if not isinstance(found, (torch.dtype, torch.layout, bool, type(None))):
            return False, None
        asking = Asking(self._tracer.places, frame)
        test = asking.identity_test() if asking.is_shown else None
        if test is None:
            return False, None
        compare, other = test
        if asking.resolved(other) is found:
            answer = isinstance(compare.ops[0], ast.Is)
            words = f"this test is {answer} for the {found} that is passed, and {not answer} for torch.fx's proxy of it"
            self._tracer.note(TYPE_TEST, None, words)
        return True, found

    def _has(self, value: Any, name: str) -> bool:
        with self._tracer.evaluation():
            return hasattr(value, name)


def _kind(value: Any) -> str:
    """The name of the value's class as eager has it."""
    if isinstance(value, FakeTensor):
        return "Parameter" if isinstance(value, torch.nn.Parameter) else "Tensor"
    return type(value).__name__


def _asks_in_python(places: Places, frame: FrameType) -> bool:
    """Whether it is ``isinstance`` or a pattern that asks for the class."""
    if frame.f_code is torch.is_tensor.__code__:
        return True
    asking = Asking(places, frame)
    return asking.is_shown and (asking.opcode == "MATCH_CLASS" or asking.called() == "isinstance")


def _is_tensor_type(wanted: Any) -> bool:
    """Whether one of the types is ``torch.FloatTensor`` or its like, whose tests are C++."""
    if isinstance(wanted, tuple):
        return any(_is_tensor_type(each) for each in wanted)
    return type(wanted) is type(torch.FloatTensor)


def _type_wanted(places: Places, frame: FrameType) -> Any:
    """The type, or types, that a value is tested for; UNRESOLVED where that cannot be told."""
    if frame.f_code is torch.is_tensor.__code__:
        return torch.Tensor
    asking = Asking(places, frame)
    if not asking.is_shown:
        return UNRESOLVED
    if asking.opcode == "MATCH_CLASS":
        pattern = asking.class_pattern()
        return UNRESOLVED if pattern is None else asking.resolved(pattern.cls)
    call = asking.call()
    if call is None or asking.called() != "isinstance" or len(call.args) != 2:
        return UNRESOLVED
    return asking.resolved(call.args[1])


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
"""Operators by the names that numpy's functions have."""


def _words(refuse: Callable[[], Any]) -> BaseException:
    """torch.fx's own exception."""
    try:
        refuse()
    except Exception as error:
        return error
    return TraceError("torch.fx refuses this")


def _converts(asking: Asking) -> bool:
    """Whether the expression calls something that makes a Python integer of its argument."""
    return asking.call() is not None and not asking.calls_torch()


def _length_of(value: Any) -> int | None:
    if isinstance(value, torch.Tensor):
        return int(value.shape[0]) if value.dim() else None
    return len(value) if isinstance(value, (list, tuple, str)) else None


def _short(value: Any) -> str:
    return "a tensor" if isinstance(value, torch.Tensor) else repr(value)[:40]
