"""Text in three forms: Markdown, Markdown with tables, and plain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MARKUP = re.compile(r"([\\`*{}\[\]<>#|~&!]|(?<![^\W_])_|_(?![^\W_]))")
"""An underscore between letters is none: Neovim shows the backslash before it."""


@dataclass(frozen=True, slots=True)
class RichText:
    """One text, in each form."""

    markdown: str
    """Tables are aligned text, because most editors show the source of Markdown tables."""
    plain: str
    tabular: str
    """Markdown for clients that render its tables, which are not limited in size."""

    def __add__(self, other: RichText) -> RichText:
        return RichText(self.markdown + other.markdown, self.plain + other.plain, self.tabular + other.tabular)


def words(text: str) -> RichText:
    """Return running text in which nothing is markup."""
    escaped = _MARKUP.sub(r"\\\1", text)
    return RichText(escaped, text, escaped)


def code(text: str) -> RichText:
    """Return a piece of source, a path or a shape, formatted as code."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    marked = f"{fence}{padding}{text}{padding}{fence}"
    return RichText(marked, text, marked)


def prose(text: str) -> RichText:
    """Return running text with pieces of source between backticks."""
    pieces = text.split("`")
    return joined((code(piece) if index % 2 else words(piece) for index, piece in enumerate(pieces)), "")


def link(text: str, address: str) -> RichText:
    """Return a link, for clients in which links can be followed."""
    linked = f"[{words(text).markdown}]({address})"
    return RichText(linked, text, linked)


def joined(parts: Iterable[RichText], separator: str) -> RichText:
    """Return ``parts`` with ``separator`` between them."""
    listed = list(parts)
    return RichText(
        separator.join(part.markdown for part in listed),
        separator.join(part.plain for part in listed),
        separator.join(part.tabular for part in listed),
    )


def dotted(parts: Iterable[RichText]) -> RichText:
    """Return facts on one line: ``a · b · c``."""
    return joined(parts, " · ")


def paragraphs(parts: Iterable[RichText]) -> RichText:
    """Return each part on a line of its own."""
    listed = list(parts)
    return RichText(
        "\n\n".join(part.markdown for part in listed),
        "\n".join(part.plain for part in listed),
        "\n\n".join(part.tabular for part in listed),
    )
