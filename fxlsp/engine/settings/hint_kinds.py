"""Which inlay hints somebody wants to see."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HintKinds:
    """One switch a kind; the setting ``hints`` as a whole turns all."""

    shapes: bool = True
    """At the end of a line, what its last expression makes."""
    arguments: bool = True
    """Behind the parameters of ``forward``, what comes in."""
    dtypes: bool = True
    """Beside a shape, the dtype where it is another than most of the model's."""


ALL_HINTS = HintKinds()
