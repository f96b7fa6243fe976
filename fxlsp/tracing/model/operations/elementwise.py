"""Mismatches of operations that stretch operands to one shape, and of those that join them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from .operation import Fit, Key, Mismatch, Operation, dtype_text, shape_text

_SYMBOLS = dict(
    zip(
        ("add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"),
        ("+", "-", "*", "/", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="),
        strict=True,
    )
)
"""Operators by the names of their functions."""

ELEMENTWISE = frozenset(
    {
        *_SYMBOLS,
        *("subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "fmod", "rsub", "float_power"),
        *("and", "or", "xor", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
        *("maximum", "minimum", "max", "min", "fmax", "fmin", "atan2", "hypot", "copysign", "where", "masked_fill"),
        *("addcmul", "addcdiv", "lerp", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "clamp", "dist"),
    }
)
"""Names of the operations whose tensors are stretched to one shape."""


def elementwise(operation: Operation) -> Mismatch | None:
    """Return the dimension in which operands cannot be stretched to one shape."""
    operands = [(key, tensor) for key, tensor in operation.tensors() if key[0] not in ("out", "weight")]
    shapes = [tuple(int(size) for size in tensor.shape) for _, tensor in operands]
    if len(shapes) < 2:
        return None
    common = _common(shapes)
    differing = _differing(shapes, common)
    if differing is not None:
        return _differ(operation, operands, shapes, common, differing)
    if operation.is_in_place and shapes[0] != common:
        headline = (
            f"{_what(operation, shapes)}: the result {shape_text(common)} does not fit into {shape_text(shapes[0])}"
        )
        return Mismatch(headline, {key: Fit(shapes[0]) for key, _ in operands[1:]})
    return None


def _differ(
    operation: Operation,
    operands: Sequence[tuple[Key, torch.Tensor]],
    shapes: Sequence[tuple[int, ...]],
    common: tuple[int, ...],
    at: int,
) -> Mismatch:
    sizes = dict.fromkeys(shape[at] for shape in shapes if len(shape) >= -at and shape[at] != 1)
    is_level = len({len(shape) for shape in shapes}) == 1
    number = at + len(common) if is_level else at
    headline = f"{_what(operation, shapes)}: {' != '.join(map(str, sizes))} in dimension {number}"
    if operation.is_in_place:
        # The result has the shape of the first operand, whatever the others are.
        return Mismatch(headline, {key: Fit(shapes[0]) for key, _ in operands[1:]})
    smallest = tuple(
        min((shape[at] for shape in shapes if len(shape) >= -at and shape[at] != 1), default=1)
        for at in range(-len(common), 0)
    )
    keys = [key for key, _ in operands]
    return Mismatch(headline, _stretched(keys, shapes, common), False, _stretched(keys, shapes, smallest))


def _stretched(keys: Sequence[Key], shapes: Sequence[tuple[int, ...]], common: tuple[int, ...]) -> dict[Key, Fit | int]:
    """Return replacements for the operands that cannot be stretched to ``common``."""
    fitting: dict[Key, Fit | int] = {}
    for key, shape in zip(keys, shapes, strict=True):
        full = common[len(common) - len(shape) :]
        fits = tuple(1 if size == 1 else wide for size, wide in zip(shape, full, strict=True))
        if fits != shape:
            fitting[key] = Fit(fits)
    return fitting


def _what(operation: Operation, shapes: Sequence[tuple[int, ...]]) -> str:
    symbol = _SYMBOLS.get(operation.name)
    texts = [shape_text(shape) for shape in shapes]
    if symbol is not None and len(texts) == 2:
        return f" {symbol}{'=' if operation.is_in_place else ''} ".join(texts)
    return f"`{operation.name}` of {', '.join(texts[:-1])} and {texts[-1]}"


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the largest size in each dimension, counted from the last; 0 is larger than 1."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max((size for size in sizes if size != 1), default=1) for sizes in zip(*padded, strict=True))


def _differing(shapes: Sequence[tuple[int, ...]], common: tuple[int, ...]) -> int | None:
    """Return the first dimension, counted from the end, in which a shape cannot be stretched."""
    for at in range(-len(common), 0):
        if any(len(shape) >= -at and shape[at] not in (1, common[at]) for shape in shapes):
            return at
    return None


def joined(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``cat`` and ``stack`` and their relatives with a list of tensors."""
    tensors = operation.value(0, "tensors")
    along = operation.value(1, "dim", 0)
    if not isinstance(tensors, (list, tuple)) or not tensors or type(along) is not int:
        return None
    if not all(isinstance(each, torch.Tensor) for each in tensors):
        return None
    stacks = operation.name == "stack"
    shapes = [tuple(int(size) for size in each.shape) for each in tensors]
    first = next((shape for shape in shapes if stacks or shape != (0,)), shapes[0])
    rank = len(first) + stacks
    if not -rank <= along < rank:
        return Mismatch(f"{operation.label} along dim {along} of tensors with {len(first)} dimensions")
    for index, shape in enumerate(shapes):
        if len(shape) != len(first) and (stacks or shape != (0,)):
            wrong = f"operand {index + 1} has {len(shape)} dimensions, the first has {len(first)}"
            return Mismatch(f"{operation.label} of {_texts(shapes)}: {wrong}")
    own = None if stacks else along % rank
    differing = _other_sizes(shapes, first, own)
    if differing is None:
        return None
    index, at = differing
    wrong = f"operand {index + 1} has {shapes[index][at]} in dimension {at}, the first has {first[at]}"
    headline = f"{operation.label} of {_texts(shapes)} along dimension {along % rank}: {wrong}"
    list_key = operation.key(0, "tensors")[0]
    fitting, otherwise = (_joinable(list_key, shapes, wanted, own) for wanted in (first, shapes[index]))
    return Mismatch(headline, fitting, False, otherwise)


def _other_sizes(shapes: Sequence[tuple[int, ...]], first: tuple[int, ...], own: int | None) -> tuple[int, int] | None:
    """Return the index of an operand, and the dimension other than ``own`` in which it differs from the first."""
    for index, shape in enumerate(shapes):
        for at, (size, wanted) in enumerate(zip(shape, first, strict=False)):
            if size != wanted and at != own and len(shape) == len(first):
                return index, at
    return None


def _joinable(
    list_key: int | str, shapes: Sequence[tuple[int, ...]], wanted: tuple[int, ...], own: int | None
) -> dict[Key, Fit | int]:
    """Return replacements for the operands whose sizes differ from the wanted ones, except along ``own``."""
    fitting: dict[Key, Fit | int] = {}
    for index, shape in enumerate(shapes):
        if len(shape) != len(wanted):
            continue
        fits = tuple(size if at == own else wanted[at] for at, size in enumerate(shape))
        if fits != shape:
            fitting[(list_key, index)] = Fit(fits)
    return fitting


_MOST_SHOWN = 4


def _texts(shapes: Sequence[tuple[int, ...]]) -> str:
    texts = [shape_text(shape) for shape in shapes[:_MOST_SHOWN]]
    if len(shapes) > _MOST_SHOWN:
        return f"{', '.join(texts)} and {len(shapes) - _MOST_SHOWN} more"
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def loss_of_classes(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``cross_entropy`` or ``nll_loss`` and its target."""
    given, target = operation.tensor(0, "input"), operation.tensor(1, "target")
    if given is None or target is None or not given.dim():
        return None
    shape = tuple(int(size) for size in given.shape)
    wanted = shape[:1] + shape[2:] if len(shape) > 1 else ()
    what = operation.label
    key = operation.key(1, "target")
    has_probabilities = target.is_floating_point() and tuple(target.shape) == shape
    if has_probabilities or (not target.is_floating_point() and tuple(target.shape) == wanted):
        return None
    if target.is_floating_point() and tuple(target.shape) == wanted:
        headline = f"{what} takes class indices of type int64, got {dtype_text(target.dtype)}"
    else:
        texts = f"{shape_text(wanted)}, got {shape_text(target.shape)}"
        headline = f"{what} of an input {shape_text(shape)} takes a target of {texts}"
    return Mismatch(headline, {key: Fit(wanted, torch.int64)})


def loss_layer(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of ``nn.CrossEntropyLoss`` or ``nn.NLLLoss`` and its target."""
    return loss_of_classes(operation)


def loss_of_pairs(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of a layer such as ``nn.MSELoss``, which stretches its input and target to one shape."""
    given, target = operation.tensor(0, "input"), operation.tensor(1, "target")
    if given is None or target is None:
        return None
    operands = [(operation.key(0, "input"), given), (operation.key(1, "target"), target)]
    shapes = [tuple(int(size) for size in tensor.shape) for _, tensor in operands]
    common = _common(shapes)
    at = _differing(shapes, common)
    if at is None:
        return None
    found = _differ(operation, operands, shapes, common, at)
    return replace(found, headline=found.headline.replace(f"`{operation.name}`", label, 1))


def loss_of_equal_shapes(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of ``nn.BCELoss`` and its relatives, which stretch nothing."""
    given, target = operation.tensor(0, "input"), operation.tensor(1, "target")
    if given is None or target is None or given.shape == target.shape:
        return None
    headline = f"{label} takes a target of the shape of its input, {shape_text(given.shape)}, got "
    return Mismatch(headline + shape_text(target.shape), {operation.key(1, "target"): Fit(tuple(given.shape))})
