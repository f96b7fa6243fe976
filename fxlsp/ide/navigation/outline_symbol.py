"""One entry of a file's outline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Symbol:
    """A model class, its ``forward``, or a module that is registered in it."""

    name: str
    kind: Literal["class", "forward", "module"]
    span: Span
    """The whole definition or statement; inside that of the symbol above."""
    name_span: Span
    """What to select, inside ``span``."""
    detail: str = ""
    path: str = ""
    """Of a module, its path: a name for it where there is no tree."""
    children: list[Symbol] = field(default_factory=list)
