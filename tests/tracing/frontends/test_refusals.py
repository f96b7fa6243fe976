"""What torch.export refuses, by its errors, and which words of torch concern the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._dynamo.exc import UncapturedHigherOrderOpError, Unsupported, UserErrorType
from torch._dynamo.exc import UserError as TorchUserError
from torch._subclasses.fake_tensor import DataDependentOutputException

from fxlsp.tracing.frontends.model_call import chain_of
from fxlsp.tracing.isolation.torch_private.export_and_compile import is_about_value, refusal_of, without_stacks

Raise = Callable[[], object]
WRAPPED = "This higher order operator doesn't work unless it is. Got graph break/error:\n\n{}\n  Explanation: x"


class UserError(Exception):
    """Of the user's: it has the name of one of torch's."""


class UnprintableError(RuntimeError):
    def __str__(self) -> str:
        raise AssertionError("the user's code runs")


class NoForward(torch.autograd.Function):
    """A function of the user's that lacks its forward."""


class UnprintableValue:
    def __str__(self) -> str:
        raise AssertionError("the user's code runs")


def raising(error: BaseException, cause: BaseException | None = None) -> Raise:
    def raise_it() -> object:
        raise error from cause

    return raise_it


def raised(function: Raise) -> BaseException:
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("it raises")


def while_handling(error: BaseException, first: BaseException) -> Raise:
    def raise_both() -> object:
        try:
            raise first
        except type(first):
            raise error  # noqa: B904

    return raise_both


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (raising(DataDependentOutputException(torch.ops.aten.item.default)), "value"),
        (raising(TorchUserError(UserErrorType.DYNAMIC_CONTROL_FLOW, "it branches")), "value"),
        (raising(UncapturedHigherOrderOpError(WRAPPED.format("Data-dependent branching"))), "value"),
        (
            raising(
                TorchUserError(UserErrorType.CONSTRAINT_VIOLATION, "u0 >= 3"),
                cause=DataDependentOutputException(torch.ops.aten.item.default),
            ),
            "value",
        ),
        (raising(UncapturedHigherOrderOpError(WRAPPED.format("Unsupported function call"))), "form"),
        (raising(Unsupported("Unsupported function call")), "form"),
        (raising(TorchUserError(UserErrorType.INVALID_INPUT, "no such input")), "form"),
        (raising(ValueError("Unsupported input type <class 'Options'>. Export only supports")), "form"),
        (raising(RuntimeError("Found <class 'Out'> in output, which is not a known type. If")), "form"),
        (raising(RuntimeError(".numpy() is not supported for tensor subclasses.")), "form"),
        (raising(TorchUserError(UserErrorType.CONSTRAINT_VIOLATION, "u0 >= 3")), None),
    ],
)
def test_what_torch_refuses_is_known_by_its_errors(function: Raise, expected: str | None) -> None:
    assert refusal_of(chain_of(raised(function))) == expected


@pytest.mark.parametrize(
    "function",
    [
        raising(UserError("of the user's")),
        raising(NotImplementedError("mode 3")),
        raising(UnprintableError()),
        raising(ValueError(UnprintableValue())),
        lambda: nn.Module()(torch.ones(2)),
        lambda: torch.distributions.Categorical(logits=torch.ones(2)).rsample(),
        lambda: NoForward.apply(torch.ones(2)),
        while_handling(ValueError("no mode 3"), NotImplementedError("mode 3")),
        while_handling(KeyError("mode"), UserError("of the user's")),
    ],
    ids=[
        "name of torch's",
        "not implemented",
        "own text",
        "own value",
        "no forward",
        "no sample",
        "no function",
        "handled",
        "handled name",
    ],
)
def test_an_error_of_the_model_is_no_refusal(function: Raise) -> None:
    assert refusal_of(chain_of(raised(function))) is None


@pytest.mark.parametrize(
    ("file", "expected"),
    [("_subclasses/fake_impls.py", "form"), ("_ops.py", "form"), ("distributions/gamma.py", None)],
)
def test_what_operations_do_not_implement_is_refused(file: str, expected: str | None) -> None:
    path = Path(torch.__file__).parent / file
    code = compile("raise NotImplementedError('no such form')", str(path), "exec")
    assert refusal_of(chain_of(raised(lambda: exec(code)))) == expected


def test_what_a_traceback_hides_is_no_reason() -> None:
    hidden = raised(while_handling(ValueError("no data"), DataDependentOutputException(torch.ops.aten.item.default)))
    assert refusal_of(chain_of(hidden)) == "value"
    hidden.__suppress_context__ = True
    assert refusal_of(chain_of(hidden)) is None
    assert len(list(chain_of(hidden, hidden=True))) == 2


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("Data-dependent branching\n  Explanation: it branches", True),
        ("\nData dependent operator", True),
        ("Dynamic shape operator (no meta kernel)", True),
        ("Dynamic slicing with Tensor arguments", True),
        ("Indexing list with non-scalar tensor", True),
        ("Indexing torch.Size with non-scalar tensor", True),
        ("Input tensor for tolist must be an integer tensor", True),
        ("Tensor.tolist() with non-integer tensor", True),
        ("Unsupported Tensor.item() call with capture_scalar_outputs=False", True),
        ("unsupported index(Tensor)", True),
        ("generic_jump TensorVariable()", True),
        ("Call to `torch._dynamo.graph_break()`\n  Hint: no data-dependent code", False),
        ("Encountered strided NestedTensor in automatic dynamic dim determination", False),
        ("Unsupported Tensor.resize_() call", False),
        ("Skip calling `torch.compiler.disable()`d function", False),
    ],
)
def test_a_graph_break_at_a_value_is_known_by_the_first_line_of_its_reason(reason: str, expected: bool) -> None:
    assert is_about_value(reason) == expected


MESSAGE = """\
Could not guard on data-dependent expression u0 < 3

Caused by: (_refs/__init__.py:12 in f)

The following call raised this error:
  File "net.py", line 3, in forward

To fix the error, insert one of the following checks before this call:
  1. torch._check(n < 3)
  2. torch._check(n >= 3)

(These suggested fixes were derived by replacing `u0` with n.)"""


def test_the_words_of_torch_are_those_before_its_stacks_and_what_it_proposes() -> None:
    assert without_stacks(MESSAGE).splitlines() == [
        "Could not guard on data-dependent expression u0 < 3",
        "",
        "To fix the error, insert one of the following checks before this call:",
        "  1. torch._check(n < 3)",
        "  2. torch._check(n >= 3)",
    ]


@pytest.mark.parametrize("message", ["It stops.", "User Stack:\n  net.py"], ids=["no stack", "stack alone"])
def test_a_message_without_such_parts_is_as_it_is(message: str) -> None:
    assert without_stacks(message) == message
