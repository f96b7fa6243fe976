"""Tensors that were joined: which of them are to blame where what they make up together does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .guesses import Trial, changed
from .sizes import equalised, tensors, with_dimension

JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "dstack"})
_MOST = 2
"""Changes for each of several tensors that are not inputs themselves."""


@dataclass(frozen=True)
class Join:
    """A call that put tensors beside each other."""

    parts: tuple[tuple[int, ...], ...]
    """The shapes of the tensors."""
    shape: tuple[int, ...]
    """Of what they make up."""

    @property
    def dimension(self) -> int | None:
        """Along which one they were joined; None if that cannot be told."""
        found = [
            index
            for index, size in enumerate(self.shape)
            if all(len(part) == len(self.shape) for part in self.parts)
            and size == sum(part[index] for part in self.parts)
        ]
        return found[0] if len(found) == 1 else None


def refitted(trial: Trial, joins: Sequence[Join], got: int, want: int) -> Iterator[Trial]:
    """Trials in which one of the tensors that make up ``got`` together has a size with which they make up ``want``.

    First inputs that were joined as they are, then what else may have led to the size of one.
    """
    for join in reversed(joins):
        dimension = join.dimension
        if dimension is None or join.shape[dimension] != got or got == want:
            continue
        lacking = want - got
        wanted = [part for part in dict.fromkeys(join.parts) if part[dimension] + lacking > 0]
        for part in wanted:
            for path, tensor in tensors(trial):
                if tensor.shape == part:
                    yield changed(trial, path, with_dimension(tensor, dimension, part[dimension] + lacking))
        for part in wanted:
            yield from islice(equalised(trial, part[dimension], part[dimension] + lacking), _MOST)
        return
