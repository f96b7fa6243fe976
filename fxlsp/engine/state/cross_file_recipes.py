"""How other files of the workspace make and feed the models of one file."""

from __future__ import annotations

import os
from collections.abc import Callable

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.call_sites import CallSiteQuery, call_sites, factory_names
from fxlsp.source.recipes.markdown_blocks import is_block
from fxlsp.source.recipes.recipes import FoundRecipe, best_first, recipes_for
from fxlsp.source.recipes.requalify import requalified
from fxlsp.source.text.class_kind import ClassKind
from fxlsp.source.text.documents import Document

ReadText = Callable[[str], Document | None]
"""The present text of a file of the workspace; None where it cannot be read."""

_MOST_FILES = 16
"""Files with call sites of one model that are looked into, the nearest first."""
_MOST_MAKER_STEPS = 3
"""Functions that hand on what another one made."""


class CrossFileRecipes:
    """The files around one that are asked; ``files_read`` grows with each answer."""

    def __init__(self, index: Index, read: ReadText) -> None:
        self.files_read: set[str] = set()
        """Paths of the files on whose texts the answers depend."""
        self._index = index
        self._read = read

    def recipes_for(self, document: Document, name: str) -> list[FoundRecipe]:
        """The recipes that other files hold for a model of ``document``, those of the nearest file first."""
        makers = frozenset(SymbolId(document.path, each) for each in factory_names(document, frozenset({name})))
        known: dict[str, dict[str, SymbolId]] = {}
        """What each file calls those that make the model."""
        for _ in range(_MOST_MAKER_STEPS):
            self._add_mentions(makers, document.path, known)
            before = len(makers)
            makers |= self._makers(known)
            if len(makers) == before:
                break
        paths = self._nearest(known, document.path)
        return [each for path in paths for each in self._found(path, known[path], document)]

    def all_recipes_for(self, symbol: SymbolId) -> list[FoundRecipe]:
        """The recipes for a class of another file, those in its own file first."""
        document = self._document(symbol.path)
        models = () if document is None else model_classes(document)
        model = next((each for each in models if each.qualname == symbol.name), None)
        if document is None or model is None or model.local:
            return []
        return best_first([*recipes_for(document, model), *self.recipes_for(document, symbol.name)])

    def users_of(self, document: Document) -> frozenset[str]:
        """Paths of the other files that name what a document defines."""
        summary = file_summary_of(document)
        symbols = (SymbolId(document.path, each.name) for each in summary.definitions)
        found = (path for symbol in symbols for path, _, _ in self._index.mentions(symbol))
        return frozenset(found) - {document.path}

    def concerns(self, document: Document) -> bool:
        """Whether any other file names what a document defines."""
        return bool(self._index.files) and bool(self.users_of(document))

    def parents_of(self, symbol: SymbolId) -> frozenset[SymbolId]:
        """The model classes of any file that may construct a class, themselves or by functions that they call."""
        parents: set[SymbolId] = set()
        waiting, seen = [symbol], {symbol}
        while waiting:
            for path, _, around in self._index.mentions(waiting.pop()):
                user = None if around is None or is_block(path) else SymbolId(path, around)
                if user is None or user in seen:
                    continue
                seen.add(user)
                if self._index.kind_of(user) is ClassKind.MODULE:
                    parents.add(user)
                elif _is_function(self._index, user):
                    waiting.append(user)
                    parents |= self._modules_in(user)
        return frozenset(parents - {symbol})

    def _modules_in(self, function: SymbolId) -> set[SymbolId]:
        """The model classes that a function mentions: it may hand one to another, ``ResNet(Bottleneck)``."""
        definition = self._index.definition(function)
        names = frozenset[str]() if definition is None else definition.mentions
        symbols = (self._index.resolve(function.path, name) for name in names)
        return {symbol for symbol in symbols if symbol is not None and self._index.kind_of(symbol) is ClassKind.MODULE}

    def _add_mentions(
        self, makers: frozenset[SymbolId], document_path: str, known: dict[str, dict[str, SymbolId]]
    ) -> None:
        for maker in makers:
            for path, name, _ in self._index.mentions(maker):
                if path != document_path:
                    known.setdefault(path, {})[name] = maker

    def _makers(self, known: dict[str, dict[str, SymbolId]]) -> frozenset[SymbolId]:
        """The functions in the files so far that return what the known ones make."""
        found: set[SymbolId] = set()
        for path, names in known.items():
            document = self._document(path)
            if document is not None:
                found |= {SymbolId(path, each) for each in factory_names(document, frozenset(names)) - names.keys()}
        return frozenset(found)

    def _found(self, path: str, names: dict[str, SymbolId], target: Document) -> list[FoundRecipe]:
        document = self._document(path)
        if document is None:
            return []
        subject = CallSiteQuery(frozenset(names), is_instance=False, own=None)
        models = tuple(each.extent for each in model_classes(document))
        names_in_document = self._names_in_document(path, names, target.path)
        found = (requalified(site, document, names_in_document) for site in call_sites(document, subject, models))
        return [each for each in found if each is not None]

    def _names_in_document(self, path: str, names: dict[str, SymbolId], document_path: str) -> dict[str, str]:
        """What a file calls the things that the model's file defines, with their names in there."""
        summary = self._index.files.get(path)
        imported = () if summary is None else summary.imports.names
        symbols = {**{name: self._index.resolve(path, name) for name in imported}, **names}
        return {
            name: symbol.name for name, symbol in symbols.items() if symbol is not None and symbol.path == document_path
        }

    def _document(self, path: str) -> Document | None:
        self.files_read.add(path)
        return self._read(path)

    def _nearest(self, known: dict[str, dict[str, SymbolId]], document_path: str) -> list[str]:
        def distance(path: str) -> tuple[bool, int, str]:
            # Code that runs is more up to date than what is told about it.
            return is_block(path), -len(os.path.commonpath([os.path.dirname(document_path), path])), path

        return sorted(known, key=distance)[:_MOST_FILES]


def _is_function(index: Index, symbol: SymbolId) -> bool:
    definition = index.definition(symbol)
    return definition is not None and definition.bases is None
