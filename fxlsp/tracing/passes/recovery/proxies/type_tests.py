"""Class and attributes of a proxy: those of its value; differences are findings."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import torch
import torch.fx

from .....report.codes import TYPE_TEST
from ....isolation.torch_private import FakeTensor
from ....model.capture.outputs import Unknown
from ....model.locations.source_map import SourceMap
from ..caller_expression import UNRESOLVED, CallerExpression
from ..context import GraphRecorder, NeedsDataError, RecoveryContext


class TypeTests:
    """Tests of proxies by ``isinstance``, ``match``, ``hasattr`` and ``is``."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self._context = context
        self._recorder = recorder

    def class_of(self, proxy: Any, frame: FrameType) -> type:
        """Return the value's class, as ``isinstance`` sees in eager mode.

        A plain proxy that answers differently is a finding.
        """
        if self._context.is_plain or _traces(frame):
            return type(proxy)
        value = self._context.value_of(proxy)
        if isinstance(value, Unknown):
            return type(proxy)
        wanted = _type_wanted(self._context.places, frame)
        self._note_type_test(value, wanted)
        if not isinstance(value, torch.Tensor):
            return type(value)
        # torch's C++ code reads the class too, and treats whatever claims to be a Tensor as one in memory.
        if not _is_python_test(self._context.places, frame):
            return type(proxy)
        if _is_tensor_type(wanted):
            raise NeedsDataError("only a tensor itself can tell whether it is a torch.FloatTensor, or its like")
        return torch.nn.Parameter if isinstance(value, torch.nn.Parameter) else torch.Tensor

    def _note_type_test(self, value: Any, wanted: Any) -> None:
        if wanted is UNRESOLVED:
            return
        answer = isinstance(value, wanted)
        if answer != issubclass(torch.fx.Proxy, wanted):
            text = f"this test is {answer} for the {_kind(value)} that is passed, and {not answer} for torch.fx's proxy"
            self._context.note(TYPE_TEST, None, text)

    def attribute(self, proxy: Any, name: str, frame: FrameType) -> Any:
        """Return ``proxy.name``, which becomes a node once used, if the value has it.

        Plain torch.fx returns it for any name.
        """
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value = self._context.value_of(proxy)
        if self._context.is_plain or isinstance(value, Unknown):
            return self._recorder.attribute_proxy(proxy, name)
        if self._has(value, name):
            if _is_part_of_a_sequence(value, name):
                # torch's functions ask whether there are indices.
                return None
            is_itself, found = self._compared(value, name, frame)
            return found if is_itself else self._recorder.attribute_proxy(proxy, name)
        expression = CallerExpression(self._context.places, frame)
        missing = AttributeError(f"'{_kind(value)}' object has no attribute '{name}'")
        if not expression.is_shown:
            raise missing
        if expression.called() in ("hasattr", "getattr"):
            text = f"torch.fx's proxy has every attribute, the {_kind(value)} that is passed has no '{name}'"
            self._context.note(TYPE_TEST, None, text)
            raise missing
        return self._recorder.attribute_proxy(proxy, name)

    def _compared(self, value: Any, name: str, frame: FrameType) -> tuple[bool, Any]:
        """Return whether ``is`` compares a singleton attribute, and that attribute."""
        with self._context.evaluation():
            found = getattr(value, name)
        if not isinstance(found, (torch.dtype, torch.layout, bool, type(None))):
            return False, None
        expression = CallerExpression(self._context.places, frame)
        test = expression.identity_test() if expression.is_shown else None
        if test is None:
            return False, None
        compare, other = test
        if expression.resolved(other) is found:
            answer = isinstance(compare.ops[0], ast.Is)
            text = f"this test is {answer} for the {found} that is passed, and {not answer} for torch.fx's proxy of it"
            self._context.note(TYPE_TEST, None, text)
        return True, found

    def _has(self, value: Any, name: str) -> bool:
        with self._context.evaluation():
            return hasattr(value, name)


def _is_part_of_a_sequence(value: Any, name: str) -> bool:
    """Return whether a part of a packed sequence is None."""
    return isinstance(value, torch.nn.utils.rnn.PackedSequence) and getattr(value, name) is None


def _traces(frame: FrameType) -> bool:
    """Return whether a frame is of torch.fx or of this package, to which a proxy is a proxy."""
    return str(frame.f_globals.get("__name__", "")).startswith(("torch.fx.", _PACKAGE))


_PACKAGE = __name__.partition(".")[0] + "."


def _kind(value: Any) -> str:
    """Return the name of the value's class in eager mode."""
    if isinstance(value, FakeTensor):
        return "Parameter" if isinstance(value, torch.nn.Parameter) else "Tensor"
    return type(value).__name__


def _is_python_test(places: SourceMap, frame: FrameType) -> bool:
    """Return whether ``isinstance`` or a pattern reads the class."""
    if frame.f_code is torch.is_tensor.__code__:
        return True
    expression = CallerExpression(places, frame)
    return expression.is_shown and (expression.matches_class() or expression.called() == "isinstance")


def _is_tensor_type(wanted: Any) -> bool:
    """Return whether a type is ``torch.FloatTensor`` or similar, whose tests are C++."""
    if isinstance(wanted, tuple):
        return any(_is_tensor_type(each) for each in wanted)
    return type(wanted) is type(torch.FloatTensor)


def _type_wanted(places: SourceMap, frame: FrameType) -> Any:
    """Return the types that a value is tested for; ``UNRESOLVED`` if unknown."""
    if frame.f_code is torch.is_tensor.__code__:
        return torch.Tensor
    expression = CallerExpression(places, frame)
    if not expression.is_shown:
        return UNRESOLVED
    if expression.matches_class():
        pattern = expression.class_pattern()
        return UNRESOLVED if pattern is None else expression.resolved(pattern.cls)
    call = expression.call()
    if call is None or expression.called() != "isinstance" or len(call.args) != 2:
        return UNRESOLVED
    return expression.resolved(call.args[1])
