"""Sizes found by measurement: change one, run, see how two sizes that do not fit move, and solve for their equality.

A probe is a trial like others, with one size doubled. Where it fails at the same place, the next trial has the size at
which both would be equal, by a line or a power through the two measurements; where that one fails too, it is the next
measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import log

from ..evidence import Evidence
from ..size_edits import LARGEST
from ..trials.values import (
    Edit,
    Measurement,
    Open,
    Path,
    Size,
    Tensor,
    Trial,
    init_numbers,
    input_tensors,
    number_of,
    part_at,
    with_number,
)
from .registry import rule
from .sizes import broadcast_operands, misfit_of

PROBE, SOLVED = "probe of a size", "size by measurement"
_NEARLY_LINEAR = 0.2
"""Powers that differ from 1 by less are left to the line."""
_Unknown = tuple[Path, tuple[int, ...]]
"""A number, or dimensions of a tensor that have one size."""


def measurement_of(evidence: Evidence) -> Measurement | None:
    """Return the first two sizes that do not fit in the call that raised; None if none are known."""
    call = evidence.call
    if call is None:
        return None
    place = tuple((frame.f_code, line) for frame, line in evidence.frames)
    misfit = misfit_of(call)
    if misfit is not None:
        return Measurement(evidence.trial, place, misfit.got, misfit.want)
    shapes = [reversed(operand.shape) for operand in broadcast_operands(evidence)]
    for one, other in zip_longest(*shapes, fillvalue=1):
        if one != other and 1 not in (one, other):
            return Measurement(evidence.trial, place, one, other)
    return None


def _unknowns(trial: Trial) -> dict[_Unknown, int]:
    """Return the sizes that may be changed: the edges of a map together, as they have to fit one kernel.

    The last of a map may be its channels.
    """
    found: dict[_Unknown, int] = {}
    for path, tensor in input_tensors(trial):
        shape = tensor.shape
        if len(shape) >= 4 and len(set(shape[2:])) == 1:
            found[path, tuple(range(2, len(shape)))] = shape[2]
            found[path, (1,)] = shape[1]
            found[path, (len(shape) - 1,)] = shape[-1]
        else:
            found.update({(path, (index,)): shape[index] for index in range(len(shape) - 1, 0, -1)})
    found.update({(path, ()): number_of(part) for path, part in init_numbers(trial) if number_of(part) > 1})
    return found


def _with_size(trial: Trial, unknown: _Unknown, size: int) -> Edit:
    path, dimensions = unknown
    part = part_at(trial, path)
    if isinstance(part, Tensor):
        shape = tuple(size if index in dimensions else old for index, old in enumerate(part.shape))
        return {path: Tensor(shape, part.dtype, part.value)}
    return {path: with_number(part, size)} if isinstance(part, (Size, Open)) else {}


def _is_measured(evidence: Evidence) -> bool:
    return evidence.trial.origin.rules[-1:] in ((PROBE,), (SOLVED,))


@rule(SOLVED, "kind", _is_measured)
def _solved(evidence: Evidence) -> Iterator[Edit]:
    """Change a size to where two that do not fit would be equal, by how they moved with it."""
    before, now = evidence.trial.origin.before, measurement_of(evidence)
    if before is None or now is None or before.place != now.place:
        return
    old, new = _unknowns(before.trial), _unknowns(evidence.trial)
    moved = [(unknown, old[unknown], size) for unknown, size in new.items() if old.get(unknown, size) != size]
    # The last of the edges of a map is an unknown of its own as well.
    moved.sort(key=lambda each: -len(each[0][1]))
    if len(moved) == 1 or (len(moved) == 2 and set(moved[1][0][1]) < set(moved[0][0][1])):
        unknown, first, second = moved[0]
        for size in dict.fromkeys(map(round, _roots(before, now, first, second))):
            if 0 < size <= LARGEST and size not in (first, second):
                yield _with_size(evidence.trial, unknown, size)


def _roots(before: Measurement, now: Measurement, first: int, second: int) -> Iterator[float]:
    """Yield where two sizes would be equal that were measured for the values ``first`` and ``second`` of an unknown."""
    pairs = (before.got, now.got), (before.want, now.want)
    for (moving, moved), (target, same) in (pairs, pairs[::-1]):
        if target == same and moving > 0 and moved > 0 and moving != moved:
            power = log(moved / moving) / log(second / first)
            if abs(power - 1) > _NEARLY_LINEAR:
                # A map that was flattened grows with the square of its edges.
                yield first * (target / moving) ** (1 / power)
    excess, later = before.got - before.want, now.got - now.want
    if later != excess:
        yield first - excess * (second - first) / (later - excess)


@rule(PROBE, "call", lambda evidence: not _is_measured(evidence))
def _probe(evidence: Evidence) -> Iterator[Edit]:
    """Double a size, to see how the two that do not fit move with it."""
    if measurement_of(evidence) is not None:
        for unknown, size in _unknowns(evidence.trial).items():
            yield _with_size(evidence.trial, unknown, 2 * size)
