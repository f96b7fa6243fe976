"""Text in the two forms between which clients choose: markdown and plain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


@dataclass(frozen=True, slots=True)
class RichText:
    """One text, in both forms."""

    markdown: str
    plain: str

    def __add__(self, other: RichText) -> RichText:
        return RichText(self.markdown + other.markdown, self.plain + other.plain)


def words(text: str) -> RichText:
    """Running text; nothing in it is markup."""
    return RichText(_MARKUP.sub(r"\\\1", text), text)


def code(text: str) -> RichText:
    """A piece of source, a path or a shape, set as code."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    return RichText(f"{fence}{padding}{text}{padding}{fence}", text)


def block(lines: Iterable[str]) -> RichText:
    """Lines that keep their columns."""
    text = "\n".join(lines)
    return RichText(f"```text\n{text}\n```", text)


def joined(parts: Iterable[RichText], separator: str) -> RichText:
    """``parts`` with ``separator`` between them."""
    listed = list(parts)
    return RichText(
        separator.join(part.markdown for part in listed),
        separator.join(part.plain for part in listed),
    )


def dotted(parts: Iterable[RichText]) -> RichText:
    """Facts on one line: ``a · b · c``."""
    return joined(parts, " · ")


def paragraphs(parts: Iterable[RichText]) -> RichText:
    """Each part on a line of its own."""
    listed = list(parts)
    return RichText("\n\n".join(part.markdown for part in listed), "\n".join(part.plain for part in listed))
