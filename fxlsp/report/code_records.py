"""What is known of a problem code, of its family, and of the traits by which passes and features tell codes apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag, auto
from typing import Literal

Severity = Literal["error", "warning", "info", "hint"]
RANKS: Mapping[Severity, int] = {"error": 0, "warning": 1, "info": 2, "hint": 3}
"""Order of the severities, the most severe first."""


class Trait(Flag):
    """Property of a code, by which a pass or a feature treats its problems otherwise than those of other codes."""

    NONE = 0
    OF_TORCH_FX = auto()
    """It concerns torch.fx alone: without torch.fx the model is right."""
    OF_UNUSED_CODE = auto()
    """A part of the model has no effect."""
    OF_NO_RUN = auto()
    """An operation, or the whole model, does not run."""

    RAISES = auto()
    """The model itself raises there."""
    REFUSES = auto()
    """It ends torch.fx's own pass."""
    LEADS_TO_REFUSAL = auto()
    """It may lead to what ends torch.fx's own pass, inside the same expression."""
    DIVERGES = auto()
    """torch.fx takes another path there than the model, or continues with another value."""
    EXPLAINS = auto()
    """It explains why a graph does something else than its model."""
    IN_MADE_GRAPH = auto()
    """What the recovering pass finds of it also concerns a graph that was made."""
    ASKS_FOR_VALUE = auto()
    """The value of a tensor is requested."""
    WHILE_TRACING = auto()
    """torch raises wherever torch.fx traces, with or without proxies."""
    MAY_LACK_HARDWARE = auto()
    """That the machine lacks something may be the reason."""

    BY_FUNCTION = auto()
    """A function refuses traced values: what mends one call (``torch.fx.wrap``) mends all."""
    BY_OPERATION = auto()
    """One function does the same with a value again and again: ``int(h)`` and ``int(w)``."""
    BY_CONSTRUCTION = auto()
    """The first related place is where the module is made that each place uses."""
    BY_EXPRESSION = auto()
    """Equal expressions of one function have one cause."""
    BY_STATE = auto()
    """Equal messages of one class, or of one file, have one cause."""


@dataclass(frozen=True)
class Family:
    """All codes that begin alike: ``FX1``."""

    title: str
    definition: str
    """One or two sentences, as the index of the pages has them."""
    severity: Severity
    """Of its codes whose records name no other one."""
    traits: Trait = Trait.NONE
    """Of all of its codes."""


FAMILIES: Mapping[str, Family] = {
    "FX1": Family(
        "cannot be traced",
        "`torch.fx.symbolic_trace` raises here. The model itself runs.",
        "warning",
        Trait.OF_TORCH_FX | Trait.REFUSES | Trait.BY_EXPRESSION,
    ),
    "FX2": Family(
        "module paths", "What is recorded has no module path, or one that may mislead.", "info", Trait.OF_TORCH_FX
    ),
    "FX3": Family(
        "the graph does something else",
        "Tracing succeeds, and the graph is not what the model does when it runs.",
        "warning",
        Trait.OF_TORCH_FX | Trait.BY_STATE,
    ),
    "FX4": Family(
        "fails when it runs",
        "An operation raises for the inputs that the model is given.",
        "error",
        Trait.OF_NO_RUN | Trait.LEADS_TO_REFUSAL | Trait.BY_EXPRESSION,
    ),
    "FX5": Family("unused", "A part of the model takes part in nothing.", "info", Trait.OF_UNUSED_CODE),
    "FX6": Family(
        "mistakes of PyTorch",
        "The model does something else than it was written for, with or without `torch.fx`.",
        "warning",
    ),
    "FX7": Family(
        "refused by torch.export",
        "`torch.export` does not take the model, or not with every batch. Reported where its verdict is asked for.",
        "info",
        Trait.BY_EXPRESSION,
    ),
    "FX8": Family(
        "split by torch.compile",
        "`torch.compile` ends a graph here, or fails. Reported where its verdict is asked for.",
        "info",
        Trait.BY_EXPRESSION,
    ),
    "FX9": Family(
        "no trace",
        "There is no graph to look at: the model could not be loaded, made, fed or survived.",
        "warning",
        Trait.OF_NO_RUN,
    ),
}


@dataclass(frozen=True)
class CodeRecord:
    """All that is known of one code but its definition, which is the docstring of its constant."""

    code: str
    advice: str
    """What to do: a sentence of the page's section Fix, source between backticks, without the full stop."""
    severity: Severity
    """Unless the user configured another one."""
    traits: Trait


def record_of(code: str, advice: str, traits: Trait = Trait.NONE, *, severity: Severity | None = None) -> CodeRecord:
    """Return the record of a code, with what its family gives it.

    Args:
        code: the code.
        advice: as in the record.
        traits: those that it has beside its family's.
        severity: if it is another one than the family's.
    """
    family = FAMILIES[code[:3]]
    return CodeRecord(code, advice, severity or family.severity, family.traits | traits)
