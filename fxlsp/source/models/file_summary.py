"""Summary of a file for the index: imports, classes, functions, mentioned names.

It is plain data, independent of the syntax tree: an index stores it for every file, in memory and on disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tree_sitter import Node

from fxlsp.source.models.forward_defs import takes_inputs
from fxlsp.source.python.class_statements import class_statements, statements_run_by
from fxlsp.source.python.imports import ImportedNames, imported_names
from fxlsp.source.text.documents import Document
from fxlsp.source.text.syntax import assignment_in, field, text_of

FORMAT = 2
"""Version of the summaries on disk; to be increased if their meaning or :func:`may_define_models` changes."""

_HINTS = (b"torch", b"forward", b"fxlsp:", b"lightning", b"transformers", b"timm")
"""One of these is in every file that defines, creates or calls a model."""

# Two patterns that each start with a literal word are five times faster than one that does not.
_IMPORTED = re.compile(rb"import[ \t]+([\w.]+)")
_IMPORTED_FROM = re.compile(rb"from[ \t]+([\w.]+)")
_CALLED = re.compile(rb"([A-Za-z_][\w.]*)\s*\(")
_APART = bytes(byte if byte in b"_." or byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))
"""Translation that leaves only dotted names and numbers of UTF-8 text, four times faster than a regular expression."""


def may_define_models(data: bytes) -> bool:
    """Return whether a file may define models, from its bytes.

    Parsing takes a hundred times longer.
    """
    return any(hint in data for hint in _HINTS)


def imported_modules(data: bytes) -> frozenset[str]:
    """Return the last parts of imported modules' names, from the bytes of a file.

    The result may contain further words.
    """
    names = (*_IMPORTED.findall(data), *_IMPORTED_FROM.findall(data))
    return frozenset(name.rpartition(b".")[2].decode("latin-1") for name in names)


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, or a function at the top level of a file."""

    name: str
    """The qualified name."""
    bases: tuple[str, ...] | None
    """The bases of a class as dotted names, "" for any other expression; None for a function."""
    takes_inputs: bool
    """Whether it is a class with a method ``forward(self, ...)``."""
    mentions: frozenset[str]
    """The dotted names in it that may refer to imports (``*`` included) or definitions of the file."""


@dataclass(frozen=True)
class FileSummary:
    """Imports, definitions and mentioned names of one file."""

    imports: ImportedNames
    definitions: tuple[Definition, ...]
    mentions: frozenset[str]
    """The dotted names mentioned outside of the definitions."""
    assigned: frozenset[str]
    """The names assigned at the top level of the file."""

    @cached_property
    def by_name(self) -> dict[str, Definition]:
        """The definitions by name; of two with the same name the last, as in Python."""
        return {definition.name: definition for definition in self.definitions}

    @cached_property
    def names_by_word(self) -> dict[str, list[str]]:
        """The dotted names in the file, by the unqualified name of their target."""
        found: dict[str, list[str]] = {}
        imported = {name: full.rpartition(".")[2] for name, full in self.imports.names.items()}
        for name in self.mentions.union(*(each.mentions for each in self.definitions)):
            word = name.rpartition(".")[2]
            found.setdefault(word, []).append(name)
            if imported.get(name, word) != word:
                found.setdefault(imported[name], []).append(name)
        return found

    def mentions_of(self, word: str) -> Iterator[tuple[str, str | None]]:
        """Yield the dotted names that may refer to a definition named ``word``.

        Each comes with the name of the definition around it; None at the top level.
        """
        for name in self.names_by_word.get(word, ()):
            if name in self.mentions:
                yield name, None
            yield from ((name, each.name) for each in self.definitions if name in each.mentions)

    # Written by hand, unlike other JSON: an array for each definition, since the cache on disk has tens of thousands.
    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON data."""
        return {
            "imports": self.imports.names,
            "stars": self.imports.stars,
            "definitions": [
                [each.name, each.bases, each.takes_inputs, sorted(each.mentions)] for each in self.definitions
            ],
            "mentions": sorted(self.mentions),
            "assigned": sorted(self.assigned),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FileSummary:
        """Restore a summary.

        Raises:
            KeyError, TypeError, ValueError: the data was not written by :meth:`to_json`.
        """
        return cls(
            ImportedNames(dict(data["imports"]), tuple(data["stars"])),
            tuple(
                Definition(name, None if bases is None else tuple(bases), bool(takes), frozenset(mentions))
                for name, bases, takes, mentions in data["definitions"]
            ),
            frozenset(data["mentions"]),
            frozenset(data["assigned"]),
        )


def file_summary_of(document: Document) -> FileSummary:
    """Return the summary of a document, computed once."""
    return document.derive(_summarize)


def _summarize(document: Document) -> FileSummary:
    root = document.tree.root_node
    imports = imported_names(root)
    classes = class_statements(root)
    functions = [node for node in statements_run_by(root) if node.type == "function_definition"]
    assigned = frozenset(_assigned_names(root))
    own = {each.qualname.partition(".")[0] for each in classes} | {_name(node) for node in functions}
    names = _Names(root, frozenset({*imports.names, *own, *assigned}), bool(imports.stars))
    definitions = [
        *(
            Definition(each.qualname, each.bases, takes_inputs(each), names.between(*each.node.byte_range))
            for each in classes
        ),
        *(Definition(_name(node), None, False, names.between(*node.byte_range)) for node in functions),
    ]
    inside = [each.node.byte_range for each in classes] + [node.byte_range for node in functions]
    return FileSummary(imports, tuple(definitions), names.outside(inside), assigned)


def _name(definition: Node) -> str:
    name = field(definition, "name")
    return "" if name is None else text_of(name)


def _assigned_names(root: Node) -> Iterator[str]:
    for statement in statements_run_by(root):
        assignment = assignment_in(statement)
        target = None if assignment is None else field(assignment, "left")
        if target is not None and target.type == "identifier":
            yield text_of(target)


class _Names:
    """Finder of the dotted names in a text.

    Strings and comments are included: to exclude them would cost more time than it saves.
    """

    def __init__(self, root: Node, known: frozenset[str], any_called: bool) -> None:
        """Collect the names of a tree.

        Args:
            known: first parts of the names to find.
            any_called: find all names that are called, too.
        """
        self._source = root.text or b""
        self._start = root.start_byte
        self._apart = self._source.translate(_APART)
        self._any_called = any_called
        first = {name.encode("utf-8", "surrogatepass") for name in known}
        words = {word for word in set(self._apart.split()) if word.partition(b".")[0] in first}
        self._names = {word: word.decode("utf-8", "surrogatepass") for word in words}

    def between(self, start: int, end: int) -> frozenset[str]:
        """Return the names between two bytes of the file."""
        part = slice(max(0, start - self._start), end - self._start)
        found = {self._names[word] for word in self._names.keys() & self._apart[part].split()}
        if self._any_called:
            found.update(name.decode("ascii") for name in _CALLED.findall(self._source[part]))
        return frozenset(found)

    def outside(self, extents: Iterable[tuple[int, int]]) -> frozenset[str]:
        """Return the names outside of all extents, given as (start, end) bytes."""
        found: set[str] = set()
        position = self._start
        for start, end in sorted(extents):
            if start > position:
                found |= self.between(position, start)
            position = max(position, end)
        return frozenset(found | self.between(position, self._start + len(self._source)))
