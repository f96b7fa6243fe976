"""Corrections of sizes: what does not fit is recognised by its number, since different things have different sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import isqrt

from .guesses import Guess, Open, Path, Size, Tensor, Trial, changed, leaves
from .layers import BATCH

_LARGEST = 16384
"""No guessed size is larger."""
_EDGES = (8, 16, 24, 28, 32, 48, 56, 64, 84, 96, 112, 128, 160, 192, 224, 227, 256, 299, 320, 384, 512)
"""Usual sizes of images."""
_STRIDES = (32, 16, 8, 4, 2, 3, 1)
"""Pixels between two positions of the last map: powers of two mostly."""


def tensors(trial: Trial) -> list[tuple[Path, Tensor]]:
    return [(path, part) for path, part in leaves(trial) if isinstance(part, Tensor)]


def numbers(trial: Trial) -> list[tuple[Path, Size | Open]]:
    return [(path, part) for path, part in leaves(trial) if isinstance(part, (Size, Open))]


def with_number(part: Size | Open, value: int) -> Guess:
    return replace(part, size=value) if isinstance(part, Open) else Size(value)


def number_of(part: Size | Open) -> int:
    return part.size if isinstance(part, Open) else part.value


def with_dimension(tensor: Tensor, index: int, size: int) -> Tensor:
    shape = list(tensor.shape)
    shape[index] = size
    return replace(tensor, shape=tuple(shape))


def equalised(trial: Trial, got: int, want: int) -> Iterator[Trial]:
    """Trials in which what is ``got`` now may become what is wanted: inputs first, then what the model is made with."""
    if got == want:
        return
    yield from _of_tensors(trial, got, want)
    yield from _of_numbers(trial, got, want)
    yield from _of_numbers(trial, want, got)
    yield from _of_both(trial, got, want)
    yield from _of_both(trial, want, got)
    yield from _of_tensors(trial, want, got)
    yield from _scaled(trial, got, want)
    yield from _scaled(trial, want, got)


def _of_both(trial: Trial, old: int, new: int) -> Iterator[Trial]:
    """What an input and the model share: one number means one thing, and one of the two alone would fail at once."""
    if not 0 < new <= _LARGEST:
        return
    fed = trial
    for path, tensor in tensors(trial):
        # The edges of a map are nothing that a model is made with.
        index = 1 if len(tensor.shape) > 3 else len(tensor.shape) - 1
        if index > 0 and tensor.shape[index] == old:
            fed = changed(fed, path, with_dimension(tensor, index, new))
    both = fed
    for path, part in numbers(trial) if fed != trial else ():
        if path[0] == "made" and number_of(part) == old:
            both = changed(both, path, with_number(part, new))
    if both != fed:
        yield both


def _everywhere(trial: Trial, old: int, new: int) -> Trial:
    """The trial with ``new`` for ``old`` in all tensors."""
    for path, tensor in tensors(trial):
        shape = tuple(
            new if size == old and (index or old != BATCH) else size for index, size in enumerate(tensor.shape)
        )
        trial = changed(trial, path, replace(tensor, shape=shape))
    return trial


def _of_tensors(trial: Trial, old: int, new: int) -> Iterator[Trial]:
    if not 0 < new <= _LARGEST:
        return
    for path, tensor in tensors(trial):
        indices = [index for index, size in enumerate(tensor.shape) if size == old and (index or old != BATCH)]
        shape = tensor
        for index in indices:
            yield changed(trial, path, with_dimension(tensor, index, new))
            shape = with_dimension(shape, index, new)
        if len(indices) > 1:
            yield changed(trial, path, shape)
    everywhere = _everywhere(trial, old, new)
    if everywhere != trial:
        # Several inputs of one size may have to stay equal.
        yield everywhere


def _of_numbers(trial: Trial, old: int, new: int) -> Iterator[Trial]:
    if 0 < new <= _LARGEST:
        for path, part in numbers(trial):
            if number_of(part) == old:
                yield changed(trial, path, with_number(part, new))


def _scaled(trial: Trial, old: int, new: int) -> Iterator[Trial]:
    """``old`` may be a multiple of a size, or a part of one, or a sum with one."""
    if not (old > 0 and new > 0):
        return
    for path, tensor in tensors(trial):
        for index, size in enumerate(tensor.shape):
            if index and size > 1 and (scaled := _in_proportion(size, old, new)) is not None:
                yield changed(trial, path, with_dimension(tensor, index, scaled))
    for path, part in numbers(trial):
        number = number_of(part)
        if number > 2 and (scaled := _in_proportion(number, old, new)) is not None:
            yield changed(trial, path, with_number(part, scaled))
    for path, tensor in tensors(trial):
        for index, size in enumerate(tensor.shape):
            if index and size < old and 0 < size + new - old <= _LARGEST and size > 1:
                yield changed(trial, path, with_dimension(tensor, index, size + new - old))
    for number in dict.fromkeys(number_of(part) for path, part in numbers(trial) if path[0] == "made"):
        if 2 < number < old and number + new - old > 0:
            yield from _of_both(trial, number, number + new - old)


def _in_proportion(size: int, old: int, new: int) -> int | None:
    if size == old or (old % size and size % old) or (size * new) % old:
        return None
    scaled = size * new // old
    return scaled if 0 < scaled <= _LARGEST and scaled != size else None


def split(trial: Trial, got: int, want: int) -> Iterator[Trial]:
    """Trials in which inputs that were joined have the sizes of which ``want`` is the sum, as told by the arguments."""
    made = [number_of(part) for path, part in numbers(trial) if path[0] == "made"]
    fed = [(path, tensor) for path, tensor in tensors(trial) if path[0] == "fed" and tensor.dtype == "float"]
    for count in (2, 3):
        parts = [sizes for sizes in product(dict.fromkeys(made), repeat=count) if sum(sizes) == want]
        if want % count == 0:
            # Nothing may say more than that they are alike.
            parts.append((want // count,) * count)
        for joined in combinations(fed, count) if parts else ():
            for index in (-1, 1):
                if all(len(tensor.shape) > 1 for _, tensor in joined) and got == sum(
                    tensor.shape[index] for _, tensor in joined
                ):
                    for sizes in parts:
                        yield _with_sizes(trial, joined, index, sizes)


def _with_sizes(trial: Trial, joined: tuple[tuple[Path, Tensor], ...], index: int, sizes: tuple[int, ...]) -> Trial:
    for (path, tensor), size in zip(joined, sizes, strict=True):
        trial = changed(trial, path, with_dimension(tensor, index, size))
    return trial


def step_of(trial: Trial) -> Trial:
    """One step of each sequence."""
    for path, tensor in tensors(trial):
        if len(tensor.shape) == 3:
            trial = changed(trial, path, replace(tensor, shape=(tensor.shape[0], tensor.shape[2])))
    return trial


def resized(trial: Trial, ratio: float) -> Iterator[Trial]:
    """Trials with other spatial sizes; ``ratio`` is how many times as many positions are wanted."""
    for path, tensor in sorted(tensors(trial), key=lambda each: -len(each[1].shape)):
        for sizes in _other_sizes(tensor, ratio):
            alone = changed(trial, path, replace(tensor, shape=tensor.shape[:1] + sizes))
            together = alone
            for other, beside in tensors(trial):
                if other != path and beside.shape[1:] == tensor.shape[1:]:
                    # Inputs of one size are likely to have to stay so.
                    together = changed(together, other, replace(beside, shape=beside.shape[:1] + sizes))
            yield together
            if together != alone:
                yield alone


def with_edges_times(trial: Trial, want: int, got: int) -> Iterator[Trial]:
    """Trials with maps of ``want / got`` times as many pixels along each edge, where those are whole numbers."""
    for path, tensor in tensors(trial):
        edges = tensor.shape[2:]
        if path[0] != "fed" or len(edges) < 2 or tensor.dtype != "float":
            continue
        if all(edge * want % got == 0 and 0 < edge * want // got <= _LARGEST for edge in edges):
            scaled = tuple(edge * want // got for edge in edges)
            yield changed(trial, path, replace(tensor, shape=(*tensor.shape[:2], *scaled)))


def trimmed(trial: Trial, got: int, want: int) -> Iterator[Trial]:
    """Trials with smaller maps, where ``got`` features of several positions were flattened and those of one are wanted.

    A position less is as many pixels less as the layers before stride over.
    """
    positions = isqrt(got // want) if want > 0 and got % want == 0 else 0
    if positions < 2 or positions**2 != got // want:
        return
    for path, tensor in tensors(trial):
        if len(tensor.shape) != 4 or tensor.dtype != "float":
            continue
        for edge in (tensor.shape[-1] - (positions - 1) * stride for stride in _STRIDES):
            if edge > 0:
                yield changed(trial, path, replace(tensor, shape=(*tensor.shape[:2], edge, edge)))


def _other_sizes(tensor: Tensor, ratio: float) -> Iterator[tuple[int, ...]]:
    """Of all dimensions but the batch's."""
    dimensions = len(tensor.shape) - 2
    if tensor.dtype != "float" or dimensions < 1:
        return
    first = 2 if dimensions > 1 else (1 if tensor.shape[2] > tensor.shape[1] else 2)
    edge = tensor.shape[-1] if dimensions > 1 else tensor.shape[first]
    for new in _edges_near(edge * ratio ** (1 / dimensions), edge):
        if dimensions > 1:
            yield tensor.shape[1:2] + (new,) * dimensions
        else:
            yield with_dimension(tensor, first, new).shape[1:]


def _edges_near(estimate: float, edge: int) -> list[int]:
    exact = [round(estimate)] if estimate >= 1 else []
    usual = sorted(_EDGES, key=lambda size: abs(size - estimate))[:8]
    return [size for size in dict.fromkeys([*exact, *usual]) if size != edge and size <= _LARGEST]
