"""Spans of the keys and values of a TOML text, which ``tomllib`` does not report."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STRING = r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
_TOKEN = re.compile(
    rf"(?P<blank>[ \t\r]+|#[^\n]*)|(?P<string>{_STRING})|(?P<mark>[=,.\[\]{{}}\n])|(?P<bare>[^\s=,.\[\]{{}}#\"']+)",
    re.DOTALL,
)
_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True, slots=True)
class TomlEntry:
    """Key and the value assigned to it, as spans of offsets with exclusive end."""

    keys: tuple[str, ...]
    """All keys from the top of the file."""
    key: tuple[int, int]
    value: tuple[int, int]
    """The span of the key itself where a header names a table."""
    strings: tuple[tuple[int, int], ...]
    """Spans of the strings in the value, without their quotes."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def toml_entries(text: str) -> list[TomlEntry]:
    """Return the entries of a valid TOML text, with those of inline tables."""
    return list(_Reader(text).document())


class _Reader:
    def __init__(self, text: str) -> None:
        found = (_Token(match.lastgroup or "", match[0], *match.span()) for match in _TOKEN.finditer(text))
        self._tokens = [token for token in found if token.kind != "blank"]
        self._next = 0

    def document(self) -> Iterator[TomlEntry]:
        table: tuple[str, ...] = ()
        while self._next < len(self._tokens):
            if self._at("\n"):
                self._next += 1
            elif self._at("["):
                while self._at("["):
                    self._next += 1
                table, place = self._key()
                yield TomlEntry(table, place, place, ())
                self._skip_line()
            else:
                yield from self._assignment(table)

    def _assignment(self, table: tuple[str, ...]) -> Iterator[TomlEntry]:
        names, key = self._key()
        self._next += 1
        first = self._next
        inner = list(self._inline_table((*table, *names))) if self._at("{") else []
        self._next = first
        value = self._value()
        strings = tuple((token.start + width, token.end - width) for token, width in map(_quoted, value) if width)
        yield TomlEntry((*table, *names), key, (value[0].start, value[-1].end) if value else key, strings)
        yield from inner

    def _inline_table(self, table: tuple[str, ...]) -> Iterator[TomlEntry]:
        self._next += 1
        while self._next < len(self._tokens) and not self._at("}"):
            if self._at(",") or self._at("\n"):
                self._next += 1
            else:
                yield from self._assignment(table)

    def _key(self) -> tuple[tuple[str, ...], tuple[int, int]]:
        """Consume a dotted key; return its names and its span."""
        tokens: list[_Token] = []
        while self._next < len(self._tokens) and self._tokens[self._next].text not in ("=", "]", "\n"):
            tokens.append(self._tokens[self._next])
            self._next += 1
        place = (tokens[0].start, tokens[-1].end) if tokens else (0, 0)
        return tuple(_name(token) for token in tokens if token.text != "."), place

    def _value(self) -> list[_Token]:
        """Consume a value, up to the end of its line or of its entry in an inline table."""
        tokens: list[_Token] = []
        depth = 0
        while self._next < len(self._tokens):
            token = self._tokens[self._next]
            if depth == 0 and token.kind == "mark" and token.text in "\n,}":
                break
            depth += token.kind == "mark" and token.text in _OPENING
            depth -= token.kind == "mark" and token.text in _CLOSING
            tokens.append(token)
            self._next += 1
        return tokens

    def _skip_line(self) -> None:
        while self._next < len(self._tokens) and not self._at("\n"):
            self._next += 1

    def _at(self, mark: str) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next].text == mark


def _name(token: _Token) -> str:
    return str(tomllib.loads(f"key = {token.text}")["key"]) if token.kind == "string" else token.text


def _quoted(token: _Token) -> tuple[_Token, int]:
    """Return the token and the width of its quotes; 0 if it is not a string."""
    if token.kind != "string":
        return token, 0
    return token, 3 if token.text.startswith(('"""', "'''")) else 1
