"""One version of the text of one file, and what is derived from it."""

from __future__ import annotations

import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from tree_sitter import Tree

from fxlsp.source.text.class_kind import ClassKind
from fxlsp.source.text.diff import TextEdit, edits_between
from fxlsp.source.text.normal_form import normal_digest
from fxlsp.source.text.notebooks.cells import Cells
from fxlsp.source.text.notebooks.ipynb import is_notebook, read_cells
from fxlsp.source.text.positions import LineIndex
from fxlsp.source.text.syntax import has_lone_return, parse
from fxlsp.source.text.uris import path_of_uri, uri_of_path
from fxlsp.wire.frames import text_digest

__all__ = ["Document", "TextEdit", "path_of_uri", "read_document", "uri_of_path"]

T = TypeVar("T")


@dataclass(frozen=True)
class Document:
    """Immutable version of a text; an edit returns another document."""

    uri: str
    """As the editor spells it."""
    path: str
    """Real and absolute; for a buffer without a file, a path that does not exist (see :func:`path_of_uri`)."""
    version: int | None
    """The version number of the editor; None for a text read from disk."""
    text: str
    _old_tree: Tree | None = field(default=None, repr=False, compare=False)
    """The tree of an earlier text with the edits since applied, from which the parser continues."""
    external_bases: Mapping[str, ClassKind] = field(default_factory=dict, repr=False, compare=False)
    """Kinds of classes that other files define, by their names in this file."""
    cells: Cells | None = field(default=None, repr=False)
    """The cells that ``text`` consists of; None for a file that is not a notebook."""

    @classmethod
    def from_cells(cls, uri: str, path: str, version: int | None, cells: Cells) -> Document:
        """Return the document of a notebook."""
        return cls(uri, path, version, cells.text, cells=cells)

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    @cached_property
    def tree(self) -> Tree:
        """The tree-sitter tree of the text."""
        return parse(self.text, self._old_tree)

    @property
    def newline(self) -> str:
        """The line terminator of the text, for an inserted line."""
        if "\r\n" in self.text:
            return "\r\n"
        return "\r" if "\r" in self.text and "\n" not in self.text else "\n"

    @property
    def parses(self) -> bool:
        """Whether the text, or each cell of a notebook, is free of syntax errors."""
        return not self.tree.root_node.has_error if self.cells is None else self.cells.parses

    @cached_property
    def program(self) -> Document:
        """The document to trace: of a notebook, the last valid text of each cell.

        A cell that is being edited, or is not Python at all, does not affect the others.
        """
        if self.cells is None or self.cells.parses:
            return self
        return Document(self.uri, self.path, self.version, self.cells.last_valid_text, None, self.external_bases)

    @property
    def edits_since_program(self) -> tuple[TextEdit, ...]:
        """The edits that turn ``program`` into this text."""
        return () if self.program is self else edits_between(self.program.text, self.text)

    @cached_property
    def digest(self) -> str:
        """The digest that identifies the text in wire messages."""
        return text_digest(self.text)

    @cached_property
    def normalized(self) -> str:
        """A digest without comments, layout and docstrings (:func:`normal_digest`)."""
        return normal_digest(self.text)

    @cached_property
    def _derived(self) -> dict[Callable[[Document], Any], Any]:
        return {}

    def derive(self, function: Callable[[Document], T]) -> T:
        """Return ``function(self)``, computed once for this document."""
        if function not in self._derived:
            self._derived[function] = function(self)
        result: T = self._derived[function]
        return result

    def edited(self, edits: Iterable[TextEdit], version: int | None) -> Document:
        """Return the document after edits, each relative to the result of the last."""
        text = self.text
        tree = self.__dict__.get("tree", self._old_tree)
        tree = None if tree is None else tree.copy()
        for edit in edits:
            before, text = text, edit.apply(text)
            tree = None if tree is None else _edited_tree(tree, edit, before, text)
        return replace(self, version=version, text=text, _old_tree=tree)

    def with_cells(self, cells: Cells, version: int | None) -> tuple[Document, tuple[TextEdit, ...]]:
        """Return the notebook with other cells, and the corresponding edits of its text."""
        edits = edits_between(self.text, cells.text)
        return replace(self.edited(edits, version), cells=cells), edits

    def with_external_bases(self, external_bases: Mapping[str, ClassKind]) -> Document:
        """Return the same text with other kinds of external base classes."""
        if external_bases == self.external_bases:
            return self
        tree = self.__dict__.get("tree", self._old_tree)
        tree = None if tree is None else tree.copy()
        return replace(self, _old_tree=tree, external_bases=external_bases)


def _edited_tree(tree: Tree, edit: TextEdit, before: str, after: str) -> Tree | None:
    """Apply an edit to a tree; return None where the parser must start from nothing."""
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
    """Read a file from disk, decoded as Python does; a notebook by its suffix.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError, SyntaxError: it is not text in the encoding that it declares, or not a notebook.
    """
    if is_notebook(path):
        return Document.from_cells(uri_of_path(path), path, None, read_cells(path))
    with open(path, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
        file.seek(0)
        text = file.read().decode(encoding)
    return Document(uri_of_path(path), path, None, text)
