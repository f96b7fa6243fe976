"""Text in the forms between which clients choose: markdown, with tables or without, and plain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


@dataclass(frozen=True, slots=True)
class RichText:
    """One text, in each form."""

    markdown: str
    """Tables are aligned text: most editors show the source of markdown's."""
    plain: str
    tabular: str
    """Markdown for those who render its tables, which have as much room as they need."""

    def __add__(self, other: RichText) -> RichText:
        return RichText(self.markdown + other.markdown, self.plain + other.plain, self.tabular + other.tabular)


def words(text: str) -> RichText:
    """Running text; nothing in it is markup."""
    escaped = _MARKUP.sub(r"\\\1", text)
    return RichText(escaped, text, escaped)


def code(text: str) -> RichText:
    """A piece of source, a path or a shape, set as code."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    marked = f"{fence}{padding}{text}{padding}{fence}"
    return RichText(marked, text, marked)


def prose(text: str) -> RichText:
    """Running text with pieces of source between backticks."""
    pieces = text.split("`")
    return joined((code(piece) if index % 2 else words(piece) for index, piece in enumerate(pieces)), "")


def link(text: str, address: str) -> RichText:
    """A text that leads to an address where links can be followed."""
    linked = f"[{words(text).markdown}]({address})"
    return RichText(linked, text, linked)


def joined(parts: Iterable[RichText], separator: str) -> RichText:
    """``parts`` with ``separator`` between them."""
    listed = list(parts)
    return RichText(
        separator.join(part.markdown for part in listed),
        separator.join(part.plain for part in listed),
        separator.join(part.tabular for part in listed),
    )


def dotted(parts: Iterable[RichText]) -> RichText:
    """Facts on one line: ``a · b · c``."""
    return joined(parts, " · ")


def paragraphs(parts: Iterable[RichText]) -> RichText:
    """Each part on a line of its own."""
    listed = list(parts)
    return RichText(
        "\n\n".join(part.markdown for part in listed),
        "\n".join(part.plain for part in listed),
        "\n\n".join(part.tabular for part in listed),
    )
