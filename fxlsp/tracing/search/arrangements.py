"""Inputs that became an operand by nothing but moving their dimensions, and putting in some of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from .guesses import Trial, changed
from .sizes import tensors

Shape = tuple[int, ...]
_MOST_MOVED = 4
"""Dimensions of what is looked for in all orders."""


def rearranged(trial: Trial, old: Shape, new: Shape) -> Iterator[Trial]:
    """Trials in which what became an operand of shape ``old`` will have the shape ``new``.

    Dimensions of one that were put into the input stay where they stand: ``new`` may have fewer, which the input lacks.
    """
    added = [index for index, size in enumerate(old) if size == 1]
    given = tuple(size for size in old if size != 1)
    without = tuple(size for index, size in enumerate(new) if index not in added)
    for path, tensor in tensors(trial):
        whole = _moved(tensor.shape, old, new) if len(old) == len(new) else ()
        for shape in dict.fromkeys((*whole, *_moved(tensor.shape, given, without))):
            if shape != tensor.shape:
                yield changed(trial, path, replace(tensor, shape=shape))


def _moved(shape: Shape, old: Shape, new: Shape) -> Iterator[Shape]:
    """``new`` with its dimensions in the order that those of ``old`` have in ``shape``."""
    if shape == old:
        yield new
    elif len(shape) == len(old) == len(new) <= _MOST_MOVED:
        orders = permutations(range(len(old)))
        yield from dict.fromkeys(
            tuple(new[index] for index in order) for order in orders if tuple(old[index] for index in order) == shape
        )
