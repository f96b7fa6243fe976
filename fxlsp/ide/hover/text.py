"""Text of a hover: facts, advice on problems, and a table in the remaining lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.ide.render.rich_text import RichText, paragraphs
from fxlsp.ide.render.tables import MAX_LINES, TextTable
from fxlsp.source.text.positions import Span

Part = RichText | TextTable

_MIN_ADVICE = 1
"""Pieces of advice that are shown however long the rest is."""


@dataclass(frozen=True, slots=True)
class HoverText:
    """What to show, and the expression that it is about."""

    facts: tuple[Part, ...]
    """Lines, and at most one table; empty where there are only problems."""
    span: Span
    advice: tuple[RichText, ...] = ()
    """A line for each problem, the most important first."""
    comment_lines: tuple[str, ...] = ()
    """The facts as one would write them as comments; if empty, the first line of the facts is used."""

    @property
    def text(self) -> RichText:
        """The text, of at most 12 lines, unless facts and advice need more."""
        advice = self.advice[: self._advice_limit()]
        parts = [*self.facts[:1], *advice, *self.facts[1:]]
        other_lines = _lines(parts)
        return paragraphs(part.text_fitting(other_lines) if isinstance(part, TextTable) else part for part in parts)

    @property
    def table(self) -> TextTable | None:
        """The table, with all its rows."""
        return next((part for part in self.facts if isinstance(part, TextTable)), None)

    @property
    def comment(self) -> str | None:
        """``# (1, 64, 56, 56) → (1, 64, 56, 56)  layer1.{0,1}.conv1``, or several lines.

        None without facts.
        """
        first = [" ".join(part.plain.split()) for part in self.facts[:1] if isinstance(part, RichText)]
        return "\n".join(f"# {line}" for line in self.comment_lines or first) or None

    def _advice_limit(self) -> int:
        table = () if self.table is None else self.table.text_fitting(MAX_LINES).plain.split("\n")
        return max(MAX_LINES - _lines(self.facts) - len(table), _MIN_ADVICE)


def _lines(parts: Sequence[Part]) -> int:
    """Return the number of lines of everything but the table."""
    return sum(part.plain.count("\n") + 1 for part in parts if isinstance(part, RichText))
