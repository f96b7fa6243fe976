"""Cases: a model, its constructor expression and its inputs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Half = Literal["develop", "acceptance", "all"]


@dataclass(frozen=True, slots=True)
class Case:
    """A model of a file or of an importable module.

    Exactly one of ``file`` and ``module`` is set.
    """

    key: str
    """Its name in reports of this benchmark and for ``--cases``: ``FILE:Name`` or ``module:Name``."""
    file: str | None
    module: str | None
    name: str
    init: str
    """The expression that constructs the model."""
    inputs: str | None
    """The arguments of its call; None where they are not stated."""

    @property
    def target(self) -> str:
        """As ``fxlsp trace`` accepts it."""
        return f"{self.file or self.module}:{self.name}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def in_half(path: str, half: Half) -> bool:
    """Return whether a file belongs to a half of the corpus.

    The first hexadecimal digit of the SHA-1 of its base name decides: 0 to 7 is the half to develop with; the other is
    for acceptance, so that nothing is fitted to it.
    """
    if half == "all":
        return True
    digit = int(hashlib.sha1(os.path.basename(path).encode()).hexdigest()[0], 16)
    return (digit < 8) == (half == "develop")


def chosen(cases: Sequence[Case], names: Sequence[str], every: int) -> list[Case]:
    """Return the cases that ``names`` name; without names every ``every``-th of all.

    Each name is ``FILE:Name`` or a part of one.
    """
    if names:
        return [case for case in cases if any(name in case.key for name in names)]
    return list(cases[::every])
