"""What the files of a workspace offer to each other: who defines a name, who derives from whom, who mentions it."""

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
"""Files through which a name is handed on, or classes between one and ``nn.Module``; a longer chain is a circle."""

_MOST_CHANGED = 24
"""Files that may change before the words of all are counted anew."""


class SymbolId(NamedTuple):
    """A class, function or name at the top of a file."""

    path: str
    name: str
    """Qualified."""


class _WordIndex(NamedTuple):
    """Which files may mention a name, so that not each of them has to be asked."""

    by_word: dict[str, list[str]]
    changed: tuple[str, ...]
    """Paths of files of which ``by_word`` does not know the present words."""

    def paths(self, word: str) -> tuple[str, ...]:
        known = self.by_word.get(word, ())
        return (*(path for path in known if path not in self.changed), *self.changed)

    def after(self, path: str) -> _WordIndex | None:
        """After a file has changed; None if it is time to count anew."""
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
    """Immutable: what is learnt makes another index. Looking something up takes no file and no tree."""

    def __init__(
        self, files: Mapping[str, FileSummary], modules: ModuleFiles | None = None, words: _WordIndex | None = None
    ) -> None:
        """
        Args:
            files: what each file that may matter offers, by real path.
            modules: of exactly these files, if somebody knows them.
            words: of these files, likewise.
        """
        self.files = files
        self._modules = modules or ModuleFiles(files)
        self._words = words or _word_index(files)
        self._kinds: dict[SymbolId, ClassKind] = {}

    def with_file(self, path: str, summary: FileSummary | None) -> Index:
        """The index after ``path`` has changed; None says that it offers nothing, or is gone."""
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
        """Where that is defined which the file ``path`` calls by a dotted name; None for what is not defined here."""
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
        """What ``package.module.Net`` means in ``path``: the longest part of it that is a file, then the rest there."""
        bare = full.lstrip(".")
        dots = full[: len(full) - len(bare)]
        parts = bare.split(".")
        for length in range(len(parts) - 1, -1 if dots else 0, -1):
            source = self._modules.find(dots + ".".join(parts[:length]), path)
            if source is not None and source != path:
                return self._resolve(source, ".".join(parts[length:]), steps)
        return None

    def kind_of(self, symbol: SymbolId) -> ClassKind:
        """Whether a class of the workspace is a module."""
        if symbol not in self._kinds:
            # Stored when it is known for certain: several threads may ask.
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
        """Of a class that no file of the workspace defines."""
        full = self.files[path].imports.resolve(base)
        if full is None and hasattr(builtins, base):
            return ClassKind.OTHER
        return external_kind(self._external_name(path, full, _MOST_STEPS) or base or None)

    def external_bases(self, path: str) -> dict[str, ClassKind]:
        """What the classes are, as far as is known, that a file takes from other files and derives its own from."""
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
        """The full name that a chain of imports ends with: ``torch.nn.Module`` for ``common.Module``."""
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
        """Who else may call something by name: (file, name there, definition of that file around it or None).

        Names in the file that defines it count too.
        """
        word = symbol.name.rpartition(".")[2]
        for path in self._words.paths(word):
            summary = self.files.get(path)
            for name, around in () if summary is None else summary.mentions_of(word):
                if self.resolve(path, name) == symbol:
                    yield path, name, around


def _is_class(summary: FileSummary, name: str) -> bool:
    """Whether a file defines a class of that name, whose methods may be asked for."""
    definition = summary.by_name.get(name)
    return definition is not None and definition.bases is not None
