"""The sizes that the user wants, in the place of those that the search starts with.

A search recognises what does not fit by its number, so it works with numbers of its own. What it found is then tried
once more with the user's; where the model does not run with one of them, that one is left as it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace

from ...report.sizes import Sizes
from .priors.tables import BATCH, IMAGE, SEQUENCE
from .trials.values import Size, Tensor, Trial, changed, leaves

_Shape = tuple[int, ...]


def with_wanted_sizes(trial: Trial, wanted: Sizes, runs: Callable[[Trial], bool]) -> tuple[Trial, str]:
    """Return ``trial``, which runs, with those of the wanted sizes with which it runs as well.

    With it a note of the others: ``runs with a sequence of 16, not 13 as set``; "" if there are none.
    """
    lengths = (SEQUENCE, wanted.sequence)
    changes = (
        (_image(wanted.image), f"images of {IMAGE}, not {wanted.image}"),
        (_sequence(wanted.sequence), f"a sequence of {SEQUENCE}, not {wanted.sequence}"),
        (_batch(wanted.batch, lengths), f"a batch of {BATCH}, not {wanted.batch}"),
    )
    refused: list[str] = []
    for change, note in changes:
        others = [other for other in _changed(trial, change) if other != trial]
        found = next(filter(runs, others), None)
        if found is None and others:
            refused.append(note)
        trial = found or trial
    return trial, f"runs with {' and '.join(refused)} as set" if refused else ""


@dataclass(frozen=True)
class _Change:
    """One size."""

    shape: Callable[[_Shape], _Shape]
    """Of an input."""
    found: Size | None = None
    """A number that may be an argument of the constructor as well, and what it is to be."""
    wanted: Size | None = None


def _image(edge: int | None) -> _Change | None:
    if edge is None:
        return None
    size = edge
    return _Change(
        lambda shape: (*shape[:-2], size, size) if shape[-2:] == (IMAGE, IMAGE) else shape, Size(IMAGE), Size(size)
    )


def _sequence(length: int | None) -> _Change | None:
    if length is None:
        return None
    size = length
    return _Change(
        lambda shape: tuple(size if each == SEQUENCE else each for each in shape), Size(SEQUENCE), Size(size)
    )


def _batch(count: int | None, lengths: Container[int | None]) -> _Change | None:
    if count is None:
        return None
    size = count

    def with_batch(shape: _Shape) -> _Shape:
        # Some layers take the sequence first.
        place = 1 if shape[:1] != (BATCH,) and shape[:1] and shape[0] in lengths else 0
        return (*shape[:place], size, *shape[place + 1 :]) if shape[place : place + 1] == (BATCH,) else shape

    return _Change(with_batch)


def _changed(trial: Trial, change: _Change | None) -> Iterator[Trial]:
    """Yield other inputs alone, then also other numbers of the constructor: an edge may be one of them."""
    if change is None:
        return
    inputs = trial
    for path, part in leaves(trial):
        if path[0] == "inputs" and isinstance(part, Tensor):
            inputs = changed(inputs, path, replace(part, shape=change.shape(part.shape)))
    if inputs == trial:
        return
    yield inputs
    both = inputs
    for path, part in leaves(trial):
        if path[0] == "init" and change.wanted is not None and part == change.found:
            both = changed(both, path, change.wanted)
    if both != inputs:
        yield both
