"""One version of one file's text, and what is derived from it."""

from __future__ import annotations

import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from tree_sitter import Tree

from fxlsp.report.wire import text_digest
from fxlsp.source.ancestry import Kind
from fxlsp.source.normal_form import normal_digest
from fxlsp.source.positions import LineIndex
from fxlsp.source.syntax import has_lone_return, parse
from fxlsp.source.uris import path_of_uri, uri_of_path

__all__ = ["Document", "TextEdit", "path_of_uri", "read_document", "uri_of_path"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One replacement; offsets count code points of the text right before this edit."""

    start_offset: int
    old_end_offset: int
    new_text: str

    def apply(self, text: str) -> str:
        return text[: self.start_offset] + self.new_text + text[self.old_end_offset :]


@dataclass(frozen=True)
class Document:
    """A text that never changes: an edit makes another document."""

    uri: str
    """As the editor wrote it."""
    path: str
    """Real and absolute; for a buffer that has no file, one that does not exist (see :func:`path_of_uri`)."""
    version: int | None
    """The editor's; None for a text read from disk."""
    text: str
    _old_tree: Tree | None = field(default=None, repr=False, compare=False)
    """The tree of an earlier text, told of the edits since: a start for the parser."""
    bases_elsewhere: Mapping[str, Kind] = field(default_factory=dict, repr=False, compare=False)
    """What is known of classes that other files define, by their names here."""

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def tree(self) -> Tree:
        return parse(self.text, self._old_tree)

    @property
    def newline(self) -> str:
        """How its lines end, for a new one."""
        if "\r\n" in self.text:
            return "\r\n"
        return "\r" if "\r" in self.text and "\n" not in self.text else "\n"

    @property
    def parses(self) -> bool:
        """Whether the text is free of syntax errors, as far as tree-sitter sees them."""
        return not self.tree.root_node.has_error

    @cached_property
    def digest(self) -> str:
        """The name of the text on the wire."""
        return text_digest(self.text)

    @cached_property
    def normalized(self) -> str:
        """Equal for texts that differ in comments, layout and docstrings only (see :func:`normal_digest`)."""
        return normal_digest(self.text)

    @cached_property
    def _derived(self) -> dict[Callable[[Document], Any], Any]:
        return {}

    def derive(self, function: Callable[[Document], T]) -> T:
        """``function(self)``, computed once for this document."""
        if function not in self._derived:
            self._derived[function] = function(self)
        result: T = self._derived[function]
        return result

    def edited(self, edits: Iterable[TextEdit], version: int | None) -> Document:
        """The document after some edits, in their order; each counts in the text that the one before it left."""
        text = self.text
        tree = self.__dict__.get("tree", self._old_tree)
        tree = None if tree is None else tree.copy()
        for edit in edits:
            before, text = text, edit.apply(text)
            tree = None if tree is None else _told(tree, edit, before, text)
        return Document(self.uri, self.path, version, text, tree, self.bases_elsewhere)

    def with_bases(self, bases_elsewhere: Mapping[str, Kind]) -> Document:
        """The same text where something else is known of other files."""
        if bases_elsewhere == self.bases_elsewhere:
            return self
        tree = self.__dict__.get("tree", self._old_tree)
        tree = None if tree is None else tree.copy()
        return Document(self.uri, self.path, self.version, self.text, tree, bases_elsewhere)


def _told(tree: Tree, edit: TextEdit, before: str, after: str) -> Tree | None:
    """The tree, told of an edit; None where the parser had better start anew."""
    if has_lone_return(before) or has_lone_return(after):
        # The bytes that the parser sees for a ``\\r`` change with what follows it.
        return None
    new_end_offset = edit.start_offset + len(edit.new_text)
    tree.edit(
        *(_byte_offset(before, edit.start_offset), _byte_offset(before, edit.old_end_offset)),
        _byte_offset(after, new_end_offset),
        *(_point(before, edit.start_offset), _point(before, edit.old_end_offset), _point(after, new_end_offset)),
    )
    return tree


def _byte_offset(text: str, offset: int) -> int:
    return len(text[:offset].encode("utf-8", "surrogatepass"))


def _point(text: str, offset: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset), len(text[line_start:offset].encode("utf-8", "surrogatepass"))


def read_document(path: str) -> Document:
    """The document of a file as it stands on disk, decoded as Python does.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError, SyntaxError: it is not text in the encoding that it declares.
    """
    with open(path, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
        file.seek(0)
        text = file.read().decode(encoding)
    return Document(uri_of_path(path), path, None, text)
