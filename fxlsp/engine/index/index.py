"""Index of a workspace: definitions, base classes and mentions of names."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fxlsp.engine.index.module_files import ModuleFiles
from fxlsp.source.models.class_hierarchy import external_kind
from fxlsp.source.models.file_summary import Definition, FileSummary
from fxlsp.source.python.class_statements import enclosing_prefixes
from fxlsp.source.text.class_kind import ClassKind

_MOST_STEPS = 12
"""Limit of imports that pass on a name, and of classes between a class and ``nn.Module``; a longer chain is a circle.
"""

_MOST_CHANGED = 24
"""Files that may change before the words of all files are collected again."""


class SymbolId(NamedTuple):
    """Class, function or top-level name of a file."""

    path: str
    name: str
    """Qualified name: ``Outer.Inner``."""


class _WordIndex(NamedTuple):
    """Files that may mention a word, so that a search need not visit every file."""

    by_word: dict[str, list[str]]
    changed: tuple[str, ...]
    """Paths of files whose words have changed since ``by_word`` was collected."""

    def paths(self, word: str) -> tuple[str, ...]:
        known = self.by_word.get(word, ())
        return (*(path for path in known if path not in self.changed), *self.changed)

    def after(self, path: str) -> _WordIndex | None:
        """Return the words after a change of ``path``; None to collect all again."""
        if path in self.changed:
            return self
        return _WordIndex(self.by_word, (*self.changed, path)) if len(self.changed) < _MOST_CHANGED else None


def _word_index(files: Mapping[str, FileSummary]) -> _WordIndex:
    by_word: dict[str, list[str]] = {}
    for path, summary in files.items():
        for word in summary.names_by_word:
            by_word.setdefault(word, []).append(path)
    return _WordIndex(by_word, ())


class Index:
    """Immutable index of the summaries of files.

    A change makes another index. Lookups read neither files nor syntax trees.
    """

    def __init__(
        self, files: Mapping[str, FileSummary], modules: ModuleFiles | None = None, words: _WordIndex | None = None
    ) -> None:
        """
        Args:
            files: summary of each relevant file, by real path.
            modules: module names of exactly these files; None computes them.
            words: words of exactly these files; None computes them.
        """
        self.files = files
        self._modules = modules or ModuleFiles(files)
        self._words = words or _word_index(files)
        self._kinds: dict[SymbolId, ClassKind] = {}

    def with_file(self, path: str, summary: FileSummary | None) -> Index:
        """Return the index after a change of ``path``.

        Args:
            summary: new summary of the file; None if it is irrelevant or deleted.
        """
        if self.files.get(path) == summary:
            return self
        files = dict(self.files)
        if summary is None:
            files.pop(path, None)
        else:
            files[path] = summary
        words = self._words.after(path)
        return Index(files, self._modules if files.keys() == self.files.keys() else None, words)

    def resolve(self, path: str, name: str) -> SymbolId | None:
        """Return the definition of a dotted name that the file ``path`` uses.

        None if no file of the workspace defines it.
        """
        return self._resolve(path, name, _MOST_STEPS)

    def _resolve(self, path: str, name: str, steps: int) -> SymbolId | None:
        summary = self.files.get(path)
        if summary is None or not steps:
            return None
        if name in summary.by_name or _is_class(summary, name.rpartition(".")[0]):
            return SymbolId(path, name)
        full = summary.imports.resolve(name)
        if full is not None:
            found = self._resolve_full(path, full, steps - 1)
            if found is not None:
                return found
        for star in summary.imports.stars:
            source = self._modules.find(star, path)
            found = None if source is None or source == path else self._resolve(source, name, steps - 1)
            if found is not None:
                return found
        return SymbolId(path, name) if name in summary.assigned else None

    def _resolve_full(self, path: str, full: str, steps: int) -> SymbolId | None:
        """Return what the full name ``package.module.Net`` refers to in ``path``.

        The longest part of it that is a file of the workspace counts; the rest is resolved in that file.
        """
        bare = full.lstrip(".")
        dots = full[: len(full) - len(bare)]
        parts = bare.split(".")
        for length in range(len(parts) - 1, -1 if dots else 0, -1):
            source = self._modules.find(dots + ".".join(parts[:length]), path)
            if source is not None and source != path:
                return self._resolve(source, ".".join(parts[length:]), steps)
        return None

    def kind_of(self, symbol: SymbolId) -> ClassKind:
        """Return whether a class of the workspace is a module (``nn.Module``)."""
        if symbol not in self._kinds:
            # Only final results are stored: several threads may ask at the same time.
            self._kinds[symbol] = self._kind_of(symbol, _MOST_STEPS)
        return self._kinds[symbol]

    def _kind_of(self, symbol: SymbolId, steps: int) -> ClassKind:
        definition = self.definition(symbol)
        if definition is None or definition.bases is None or not steps:
            return ClassKind.UNKNOWN
        kinds = {self._kind_of_base(symbol, base, steps - 1) for base in definition.bases}
        if ClassKind.MODULE in kinds or (ClassKind.UNKNOWN in kinds and definition.takes_inputs):
            return ClassKind.MODULE
        return ClassKind.UNKNOWN if ClassKind.UNKNOWN in kinds else ClassKind.OTHER

    def _kind_of_base(self, symbol: SymbolId, base: str, steps: int) -> ClassKind:
        path, scope = symbol.path, symbol.name.rpartition(".")[0]
        for prefix in enclosing_prefixes(scope) if scope else ():
            if prefix + base in self.files[path].by_name:
                return self._kind_of(SymbolId(path, prefix + base), steps)
        found = self.resolve(path, base)
        return self._external_kind(path, base) if found is None else self._kind_of(found, steps)

    def _external_kind(self, path: str, base: str) -> ClassKind:
        """Return the kind of a base class that no file of the workspace defines."""
        full = self.files[path].imports.resolve(base)
        if full is None and hasattr(builtins, base):
            return ClassKind.OTHER
        return external_kind(self._external_name(path, full, _MOST_STEPS) or base or None)

    def external_bases(self, path: str) -> dict[str, ClassKind]:
        """Return the kinds of the base classes that a file takes from other files.

        Base classes whose kind is unknown are left out.
        """
        summary = self.files.get(path)
        bases = {base for each in ([] if summary is None else summary.definitions) for base in each.bases or () if base}
        found = {base: self.resolve(path, base) for base in bases}
        kinds = {
            base: self._external_kind(path, base) if symbol is None else self.kind_of(symbol)
            for base, symbol in found.items()
            if symbol is None or symbol.path != path
        }
        return {base: kind for base, kind in kinds.items() if kind is not ClassKind.UNKNOWN}

    def _external_name(self, path: str, full: str | None, steps: int) -> str | None:
        """Return the name at the end of a chain of imports.

        For ``common.Module`` that is ``torch.nn.Module``.
        """
        if full is None or not steps:
            return full
        bare = full.lstrip(".")
        parts, dots = bare.split("."), full[: len(full) - len(bare)]
        for length in range(len(parts) - 1, -1 if dots else 0, -1):
            source = self._modules.find(dots + ".".join(parts[:length]), path)
            summary = None if source is None or source == path else self.files.get(source)
            if source is not None and summary is not None:
                inner = summary.imports.resolve(".".join(parts[length:]))
                return full if inner is None else self._external_name(source, inner, steps - 1)
        return full

    def definition(self, symbol: SymbolId) -> Definition | None:
        summary = self.files.get(symbol.path)
        return None if summary is None else summary.by_name.get(symbol.name)

    def mentions(self, symbol: SymbolId) -> Iterator[tuple[str, str, str | None]]:
        """Yield (file, name in that file, enclosing definition or None) per mention.

        The file that defines the symbol is included.
        """
        word = symbol.name.rpartition(".")[2]
        for path in self._words.paths(word):
            summary = self.files.get(path)
            for name, around in () if summary is None else summary.mentions_of(word):
                if self.resolve(path, name) == symbol:
                    yield path, name, around


def _is_class(summary: FileSummary, name: str) -> bool:
    """Return whether a file defines a class of that name, which may have methods."""
    definition = summary.by_name.get(name)
    return definition is not None and definition.bases is not None
