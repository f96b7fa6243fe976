"""Mismatches of matrix products, ``einsum`` and attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .layers import features
from .operation import Fit, Key, Mismatch, Operation, dtype_text, shape_text, with_size


def product(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``@``, ``matmul``, ``mm``, ``bmm``, ``mv`` and ``dot``."""
    return _product(operation, 0, ("input", "other" if operation.name == "matmul" else "mat2"))


def added_product(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``addmm``, ``baddbmm`` and ``addmv``."""
    names = {"addmm": ("mat1", "mat2"), "addmv": ("mat", "vec")}.get(operation.name, ("batch1", "batch2"))
    return _product(operation, 1, names)


def _product(operation: Operation, start: int, names: tuple[str, str]) -> Mismatch | None:
    left, right = operation.tensor(start, names[0]), operation.tensor(start + 1, names[1])
    if left is None or right is None:
        return None
    what = f"matrix product of {shape_text(left.shape)} and {shape_text(right.shape)}"
    ranks = _RANKS.get(operation.name)
    if ranks is not None and (left.dim(), right.dim()) != ranks:
        return Mismatch(f"{what}: `{operation.name}` takes {ranks[0]} and {ranks[1]} dimensions")
    if not left.dim() or not right.dim():
        return Mismatch(f"{what}: a number is no matrix")
    key = operation.key(start + 1, names[1])
    inner = int(left.shape[-1])
    at = -2 if right.dim() > 1 else -1
    if right.shape[at] != inner:
        return _inner(what, key, right, inner, at)
    batches = _batches(left, right, stretches=operation.name == "matmul")
    if batches is not None:
        return Mismatch(f"{what}: {batches[0]} != {batches[1]} in the batch dimensions")
    if left.dtype != right.dtype:
        fits = {key: Fit(tuple(right.shape), left.dtype)}
        return Mismatch(
            f"matrix product of {dtype_text(left.dtype)} and {dtype_text(right.dtype)}", fits, is_certain=False
        )
    return None


def _inner(what: str, key: Key, right: torch.Tensor, inner: int, at: int) -> Mismatch:
    shape = tuple(int(size) for size in right.shape)
    headline = f"{what}: {inner} != {shape[at]}"
    if len(shape) > 1 and shape[-1] == inner:
        turned = Fit((*shape[:-2], shape[-1], shape[-2]))
        text = f"{headline}, the second one transposed fits"
        return Mismatch(text, {key: turned}, False, {key: with_size(right, at, inner)})
    return Mismatch(headline, {key: with_size(right, at, inner)})


_RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "addmm": (2, 2), "baddbmm": (3, 3), "addmv": (2, 1)}


def _batches(left: torch.Tensor, right: torch.Tensor, stretches: bool) -> tuple[int, int] | None:
    """Return the sizes of the last batch dimension that differs; ``stretches`` accepts a size of one."""
    pairs = zip(reversed(left.shape[:-2]), reversed(right.shape[:-2]), strict=False)
    return next(((int(a), int(b)) for a, b in pairs if a != b and not (stretches and 1 in (a, b))), None)


def linear(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``F.linear``."""
    given, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if given is None or weight is None or not weight.dim():
        return None
    return features(operation.label, operation.key(0, "input"), given, int(weight.shape[-1]), flattens=True)


def einsum(operation: Operation) -> Mismatch | None:
    """Return the mismatch of an ``einsum`` whose equation names every dimension."""
    equation, *rest = operation.args
    operands = rest[0] if len(rest) == 1 and isinstance(rest[0], (list, tuple)) else rest
    if not isinstance(equation, str) or "." in equation:
        return None
    inputs, _, result = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands) or not all(isinstance(each, torch.Tensor) for each in operands):
        return Mismatch(f"einsum '{equation}' names {len(terms)} operands, got {len(operands)}")
    for number, (term, tensor) in enumerate(zip(terms, operands, strict=True), 1):
        if len(term) != tensor.dim():
            dimensions = f"'{term}' for the {tensor.dim()} dimensions {shape_text(tensor.shape)}"
            return Mismatch(f"einsum '{equation}' has {dimensions} of operand {number}")
    is_list = operands is not rest
    return _letters(equation, terms, operands, result, (1,) if is_list else ())


def _letters(
    equation: str, terms: Sequence[str], operands: Sequence[torch.Tensor], result: str, prefix: Key
) -> Mismatch | None:
    sizes: dict[str, tuple[int, int]] = {}
    headline, is_certain = "", True
    fitting: dict[Key, Fit | int] = {}
    for number, (term, tensor) in enumerate(zip(terms, operands, strict=True), 1):
        shape = [int(size) for size in tensor.shape]
        for at, letter in enumerate(term):
            size, owner = sizes.setdefault(letter, (shape[at], number))
            if size == 1 and shape[at] != 1:
                sizes[letter] = (shape[at], number)
            elif shape[at] not in (1, size):
                where = f"{size} in operand {owner} and {shape[at]} in operand {number}"
                headline = headline or f"einsum '{equation}': {letter} is {where}"
                is_certain = is_certain and letter not in result
                shape[at] = size
        if shape != list(tensor.shape):
            fitting[(*prefix, number - 1) if prefix else (number,)] = Fit(tuple(shape))
    return Mismatch(headline, fitting, is_certain) if headline else None


def attention(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``F.scaled_dot_product_attention``."""
    query, key, value = (operation.tensor(at, name) for at, name in enumerate(("query", "key", "value")))
    if query is None or key is None or value is None or min(query.dim(), key.dim(), value.dim()) < 2:
        return None
    label = operation.label
    if query.shape[-1] != key.shape[-1]:
        fits = with_size(key, -1, int(query.shape[-1]))
        headline = f"{label} has queries with {query.shape[-1]} features and keys with {key.shape[-1]}"
        return Mismatch(headline, {operation.key(1, "key"): fits})
    if key.shape[-2] != value.shape[-2]:
        fits = with_size(value, -2, int(key.shape[-2]))
        headline = f"{label} has {key.shape[-2]} keys and {value.shape[-2]} values"
        return Mismatch(headline, {operation.key(2, "value"): fits})
    mask = operation.tensor(3, "attn_mask")
    wanted = (*query.shape[:-1], key.shape[-2])
    if mask is not None and not _stretches(mask.shape, wanted):
        fits = Fit((int(query.shape[-2]), int(key.shape[-2])))
        headline = f"{label} has weights of {shape_text(wanted)}, its mask is {shape_text(mask.shape)}"
        return Mismatch(headline, {operation.key(3, "attn_mask"): fits})
    return None


def _stretches(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    if len(shape) > len(wanted):
        return False
    return all(size in (1, full) for size, full in zip(reversed(shape), reversed(wanted), strict=False))
