"""What one file offers to the others of a workspace: its classes, its functions, and what they mention.

All of it is plain data, without the tree it was read from: an index keeps it for every file, and on disk.
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
"""Grows when what is written to disk means something else, and when :func:`may_define_models` says something else."""

_HINTS = (b"torch", b"forward", b"fxlsp:", b"lightning", b"transformers", b"timm")
"""What a file names that defines a model, makes one or feeds one."""

# Two expressions that start with a word each are five times faster than one that does not.
_IMPORTED = re.compile(rb"import[ \t]+([\w.]+)")
_IMPORTED_FROM = re.compile(rb"from[ \t]+([\w.]+)")
_CALLED = re.compile(rb"([A-Za-z_][\w.]*)\s*\(")
_APART = bytes(byte if byte in b"_." or byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))
"""Leaves the dotted names of a text in UTF-8, and numbers: four times faster than an expression that finds them."""


def may_define_models(data: bytes) -> bool:
    """Whether a file is worth parsing, told from its bytes: parsing takes a hundred times longer."""
    return any(hint in data for hint in _HINTS)


def imported_modules(data: bytes) -> frozenset[str]:
    """The last parts of the names of the modules that a file imports, and some more, told from its bytes."""
    names = (*_IMPORTED.findall(data), *_IMPORTED_FROM.findall(data))
    return frozenset(name.rpartition(b".")[2].decode("latin-1") for name in names)


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, or a function at the top of a file."""

    name: str
    """Qualified."""
    bases: tuple[str, ...] | None
    """Of a class, its bases as dotted names, "" for any other expression; None for a function."""
    takes_inputs: bool
    """It is a class with a method ``forward(self, ...)``."""
    mentions: frozenset[str]
    """The dotted names in it that imports, definitions of the file or ``from ... import *`` may bind."""


@dataclass(frozen=True)
class FileSummary:
    """What a file offers."""

    imports: ImportedNames
    definitions: tuple[Definition, ...]
    mentions: frozenset[str]
    """Those of the code outside of its definitions."""
    assigned: frozenset[str]
    """The names assigned at the top of the file."""

    @cached_property
    def by_name(self) -> dict[str, Definition]:
        """Of two definitions of one name the last, as in Python."""
        return {definition.name: definition for definition in self.definitions}

    @cached_property
    def names_by_word(self) -> dict[str, list[str]]:
        """The dotted names mentioned anywhere in the file that may mean something whose own name is the key."""
        found: dict[str, list[str]] = {}
        imported = {name: full.rpartition(".")[2] for name, full in self.imports.names.items()}
        for name in self.mentions.union(*(each.mentions for each in self.definitions)):
            word = name.rpartition(".")[2]
            found.setdefault(word, []).append(name)
            if imported.get(name, word) != word:
                found.setdefault(imported[name], []).append(name)
        return found

    def mentions_of(self, word: str) -> Iterator[tuple[str, str | None]]:
        """The dotted names that may mean something whose own name is ``word``, each with the definition around it."""
        for name in self.names_by_word.get(word, ()):
            if name in self.mentions:
                yield name, None
            yield from ((name, each.name) for each in self.definitions if name in each.mentions)

    # By hand, unlike other JSON: an array for each definition, since the cache on disk holds tens of thousands.
    def to_json(self) -> dict[str, Any]:
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
        """
        Raises:
            KeyError, TypeError, ValueError: it was not written by :meth:`to_json`.
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
    """What a document offers, found once."""
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
    """The dotted names of a text, strings and comments included: telling those apart would cost more than it saves."""

    def __init__(self, root: Node, known: frozenset[str], any_called: bool) -> None:
        """
        Args:
            known: first parts of the names to find.
            any_called: names that are called count too, whatever they are.
        """
        self._source = root.text or b""
        self._start = root.start_byte
        self._apart = self._source.translate(_APART)
        self._any_called = any_called
        first = {name.encode("utf-8", "surrogatepass") for name in known}
        words = {word for word in set(self._apart.split()) if word.partition(b".")[0] in first}
        self._names = {word: word.decode("utf-8", "surrogatepass") for word in words}

    def between(self, start: int, end: int) -> frozenset[str]:
        """Those between two places of the file, in bytes."""
        part = slice(max(0, start - self._start), end - self._start)
        found = {self._names[word] for word in self._names.keys() & self._apart[part].split()}
        if self._any_called:
            found.update(name.decode("ascii") for name in _CALLED.findall(self._source[part]))
        return frozenset(found)

    def outside(self, extents: Iterable[tuple[int, int]]) -> frozenset[str]:
        """Those that are in none of some extents."""
        found: set[str] = set()
        position = self._start
        for start, end in sorted(extents):
            if start > position:
                found |= self.between(position, start)
            position = max(position, end)
        return frozenset(found | self.between(position, self._start + len(self._source)))
