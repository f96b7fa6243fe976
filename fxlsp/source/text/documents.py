"""One version of one file's text, and what is derived from it."""

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
    external_bases: Mapping[str, ClassKind] = field(default_factory=dict, repr=False, compare=False)
    """What is known of classes that other files define, by their names here."""
    cells: Cells | None = field(default=None, repr=False)
    """Of a notebook, those that ``text`` is made of."""

    @classmethod
    def from_cells(cls, uri: str, path: str, version: int | None, cells: Cells) -> Document:
        """A notebook."""
        return cls(uri, path, version, cells.text, cells=cells)

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
        """Whether the text is free of syntax errors, as far as tree-sitter sees them; of a notebook, each cell."""
        return not self.tree.root_node.has_error if self.cells is None else self.cells.parses

    @cached_property
    def program(self) -> Document:
        """What is to be analysed and traced: of a notebook, each cell as it was when it last parsed.

        One cell that is being typed, or is not Python at all, leaves the others as they are.
        """
        if self.cells is None or self.cells.parses:
            return self
        return Document(self.uri, self.path, self.version, self.cells.last_valid_text, None, self.external_bases)

    @property
    def edits_since_program(self) -> tuple[TextEdit, ...]:
        """The edits that lead from ``program`` to this text."""
        return () if self.program is self else edits_between(self.program.text, self.text)

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
            tree = None if tree is None else _edited_tree(tree, edit, before, text)
        return replace(self, version=version, text=text, _old_tree=tree)

    def with_cells(self, cells: Cells, version: int | None) -> tuple[Document, tuple[TextEdit, ...]]:
        """The notebook with other cells, and the edits that this is for its text."""
        edits = edits_between(self.text, cells.text)
        return replace(self.edited(edits, version), cells=cells), edits

    def with_external_bases(self, external_bases: Mapping[str, ClassKind]) -> Document:
        """The same text where something else is known of other files."""
        if external_bases == self.external_bases:
            return self
        tree = self.__dict__.get("tree", self._old_tree)
        tree = None if tree is None else tree.copy()
        return replace(self, _old_tree=tree, external_bases=external_bases)


def _edited_tree(tree: Tree, edit: TextEdit, before: str, after: str) -> Tree | None:
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
    """The document of a file as it stands on disk, decoded as Python does; a notebook by its name.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError, SyntaxError: it is not text in the encoding that it declares, or no notebook.
    """
    if is_notebook(path):
        return Document.from_cells(uri_of_path(path), path, None, read_cells(path))
    with open(path, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
        file.seek(0)
        text = file.read().decode(encoding)
    return Document(uri_of_path(path), path, None, text)
