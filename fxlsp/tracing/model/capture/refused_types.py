"""Dtypes that operators refuse for real tensors and accept for fake ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

import torch

_ONE_DTYPE = "expected operands of one dtype"


class RefusedTypesError(RuntimeError):
    """An operator does not take the dtypes of its operands, which fake tensors accept."""

    def __init__(self, message: str, dtypes: set[torch.dtype]) -> None:
        super().__init__(f"{message}, but got " + " and ".join(sorted(map(str, dtypes))))
        self.dtypes = dtypes


_FLOATS_ALONE = re.compile(
    r"(?:log_|safe_)?softmax|softmin|gelu|silu|mish|celu|hardswish|hardsigmoid|softplus|log_?sigmoid(?:_forward)?"
    r"|(?:std|var)(?:_mean)?|(?:adaptive_)?max_pool[123]d(?:_with_indices)?|avg_pool[123]d|interpolate|upsample_\w+"
    r"|lerp|multinomial|binary_cross_entropy"
)
"""Operators without a kernel for integers; for some of them there is one for a few."""
_NO_BOOLS = re.compile(r"i?sub|rsub|subtract|relu|abs|argmax|b?mm|(?:add|badd)b?mm|matmul|einsum|dot|mv")
_INTEGERS_ALONE = re.compile(r"(?:bitwise_|i)?(?:and|or|xor)")
_LARGEST = 2**24
"""Elements of the largest integers that are suspected: larger ones may be too large to be tried as real tensors."""


def require_known_types(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise if an operator is given a dtype that real tensors most likely must not have there.

    Whether they must not is known once it has run on some: which integers a kernel takes differs.

    Args:
        name: The name of the operator, of any overload.
        args: What it is given by position.
        kwargs: The rest; with a ``dtype`` its operands are converted first.

    Raises:
        RefusedTypesError: a dtype is refused.
    """
    taken = _taken(name)
    if taken and kwargs.get("dtype") is None and _is_refused(taken, args):
        raise RefusedTypesError(f"{name} takes {taken}", {each.dtype for each in _tensors(args)})


@cache
def _taken(name: str) -> Literal["", "floats", "numbers", "integers"]:
    """Return what an operator or function takes that does not take all dtypes."""
    name = name.strip("_")
    if _FLOATS_ALONE.fullmatch(name):
        return "floats"
    if _NO_BOOLS.fullmatch(name):
        return "numbers"
    return "integers" if _INTEGERS_ALONE.fullmatch(name) else ""


def _is_refused(taken: str, args: Iterable[Any]) -> bool:
    operands = _tensors(args)
    if taken == "floats":
        return any(_is_of_integers(each) and each.numel() <= _LARGEST for each in operands[:1])
    if taken == "numbers":
        return any(each.dtype is torch.bool for each in operands)
    return any(each.is_floating_point() for each in operands)


def _is_of_integers(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex()


def require_one_dtype(args: tuple[Any, ...]) -> None:
    """Raise unless all matrices have one dtype, as torch does for real tensors.

    Dtypes of one byte may be mixed.

    Raises:
        RefusedTypesError: there are several dtypes.
    """
    # No operator with a formula has more than three matrices before its masks and scales.
    dtypes = {matrix.dtype for matrix in _tensors(args[:3]) if matrix.dim() > 1 and matrix.dtype.itemsize > 1}
    if len(dtypes) > 1:
        raise RefusedTypesError(_ONE_DTYPE, dtypes)


def require_features(function: str, args: tuple[Any, ...]) -> None:
    """Raise if a layer is given integers, whose sizes torch looks at first.

    Raises:
        RefusedTypesError: its weight is of another type.
    """
    if _is_given_integers(function, args):
        raise RefusedTypesError(_ONE_DTYPE, {each.dtype for each in args[:2]})


def may_refuse_types(function: str, args: tuple[Any, ...]) -> bool:
    """Return whether a function of torch's may refuse the dtypes of data; not where they are converted first."""
    floats = {each.dtype for each in _tensors(args) if each.is_floating_point()}
    taken = _taken(function)
    is_refused = bool(taken) and _is_refused(taken, args)
    return (len(floats) > 1 or is_refused or _is_given_integers(function, args)) and not is_autocast()


def _is_given_integers(function: str, args: tuple[Any, ...]) -> bool:
    if function != "linear" and not function.startswith("conv"):
        return False
    given = args[:2]
    if not all(isinstance(each, torch.Tensor) for each in given):
        return False
    return len(set(map(_is_of_integers, given))) > 1


def is_autocast() -> bool:
    """Return whether operations run under ``torch.autocast``, on any device."""
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def _tensors(args: Iterable[Any]) -> list[torch.Tensor]:
    return [each for each in args if isinstance(each, torch.Tensor)]
