"""Mutable state of a session.

One loop changes it; all other code reads its snapshots.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.state.analysis import Analysis, ContextModel
from fxlsp.engine.state.folders import Folder, folder_of
from fxlsp.engine.state.guesses import Guesses
from fxlsp.engine.state.history import History
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.model_tables import ModelTables
from fxlsp.engine.state.pinned_recipes import PinnedRecipe, apply_pinned_recipes
from fxlsp.engine.state.snapshot import ModelKey, ModelState
from fxlsp.engine.state.trust import TrustedScope
from fxlsp.source.models.file_summary import FileSummary
from fxlsp.source.text.documents import Document, TextEdit

_REMEMBERED_FORMS = 4096


@dataclass(frozen=True, slots=True)
class FxUse:
    """File that uses torch.fx."""

    path: str
    words: str
    """Text that describes the use, such as the name of a function."""


class Session:
    """Folders, documents, models and choices of the user.

    The tables are views: only the methods change them, each so that they stay consistent with each other. The rules
    that decide on a change are in the modules that take a session.
    """

    def __init__(self, folders: tuple[Folder, ...] = (), *, trust: TrustedScope = TrustedScope()) -> None:  # noqa: B008  # immutable
        self.models: Final = ModelTables()
        self.guesses: Final = Guesses()
        self._folders = folders
        self._trust = trust
        self._cursor: tuple[str, int] | None = None
        self._index = Index({})
        self._is_indexed = False
        self._unsaved: set[str] = set()
        """Open documents that were edited since they were opened or saved."""
        self._unparsed: set[str] = set()
        """Open documents whose present text does not parse."""
        self._forms: OrderedDict[str, str] = OrderedDict()
        """Normalized digest by text digest."""

        self._documents: dict[str, Document] = {}
        self.documents: Final[Mapping[str, Document]] = MappingProxyType(self._documents)
        """Open documents by path."""
        self._histories: dict[str, History] = {}
        self.histories: Final[Mapping[str, History]] = MappingProxyType(self._histories)
        """Edits of each open document."""
        self._on_disk: dict[str, Document] = {}
        self.on_disk: Final[Mapping[str, Document]] = MappingProxyType(self._on_disk)
        """Closed files that have changed since a trace read them, by path."""
        self._background: dict[str, Document] = {}
        self.background: Final[Mapping[str, Document]] = MappingProxyType(self._background)
        """Closed files whose problems are reported, by path."""
        self._analyses: dict[str, Analysis] = {}
        self.analyses: Final[Mapping[str, Analysis]] = MappingProxyType(self._analyses)
        """Newest analysis of each open or background document, of a text that parses."""
        self._pinned_recipes: dict[SymbolId, PinnedRecipe] = {}
        self.pinned_recipes: Final[Mapping[SymbolId, PinnedRecipe]] = MappingProxyType(self._pinned_recipes)
        """Recipes that the user chose, including those for documents closed since."""
        self._instances: dict[SymbolId, ForwardInstance] = {}
        self.instances: Final[Mapping[SymbolId, ForwardInstance]] = MappingProxyType(self._instances)
        """Of a class that is used in several places, the use that the user chose to see."""
        self._fx_uses: dict[str, FxUse | None] = {}
        self.fx_uses: Final[Mapping[str, FxUse | None]] = MappingProxyType(self._fx_uses)
        """By folder that was searched: a file that uses torch.fx; None if none does."""

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._folders

    @property
    def trusted(self) -> bool:
        """Whether code of the workspace may run."""
        return self._trust.covers_all(folder.path for folder in self._folders)

    @property
    def cursor(self) -> tuple[str, int] | None:
        """Path and line of the last hover, lens or edit."""
        return self._cursor

    @property
    def index(self) -> Index:
        """Index of the folders' files, of open ones as they are in the editor."""
        return self._index

    @property
    def is_indexed(self) -> bool:
        """Whether all folders were read: a name not in the index does not exist."""
        return self._is_indexed

    # Queries

    def folder_of(self, path: str) -> Folder:
        return folder_of(path, self._folders)

    def is_trusted(self, path: str) -> bool:
        """Return whether the models of a file may be traced.

        What is trusted by folder does not include other files that are opened beside it; a buffer without a file holds
        what the user typed.
        """
        document = self._documents.get(path)
        is_file = document is None or document.uri.startswith("file:")
        return self.trusted and (not is_file or self._trust.covers(path))

    def is_excluded(self, path: str) -> bool:
        """Return whether the settings exclude a file, which is then not traced."""
        return self.folder_of(path).settings.exclude(path)

    def is_unparsed(self, path: str) -> bool:
        """Return whether the present text of an open document does not parse."""
        return path in self._unparsed

    def is_held_back(self, path: str) -> bool:
        """Return whether the edits of a document wait until it is saved.

        Edits of a document without a file never wait: it cannot be saved.
        """
        document = self._documents.get(path)
        if path not in self._unsaved or document is None or not document.uri.startswith("file:"):
            return False
        return self.folder_of(path).settings.retrace == "save"

    def holds(self, texts: Mapping[str, str]) -> bool:
        """Return whether these texts are the present programs.

        Comments and layout are ignored.

        Args:
            texts: digests by path.
        """
        return all(self._is_same_program(path, digest) for path, digest in texts.items())

    def program_of(self, digest: str) -> str:
        """Return the digest of a text without comments and layout; that of the text itself if it is not known."""
        return self._forms.get(digest, digest)

    def text_to_trace(self, path: str) -> Document | None:
        """Return the text of a file that traces receive.

        Of an open document it is the newest text that parsed, if one did. None for a closed file that has not changed
        since a trace read it from disk.
        """
        analysis = self._analyses.get(path)
        if analysis is not None:
            return analysis.document
        document = self._documents.get(path)
        return self._on_disk.get(path) if document is None else document.program

    # Folders and choices of the user

    def set_folders(self, folders: tuple[Folder, ...]) -> None:
        """Replace the folders. Their settings can grant trust but not revoke it."""
        self._folders = folders
        if any(folder.settings.trusted for folder in folders):
            self.set_trust(TrustedScope(everything=True))

    def set_trust(self, trust: TrustedScope) -> None:
        """Set what may run from now on."""
        self._trust = trust

    def set_cursor(self, path: str, line: int) -> None:
        """Set the position of the user, where models are traced first."""
        self._cursor = (path, line)

    def set_pinned_recipe(self, place: SymbolId, pinned_recipe: PinnedRecipe | None) -> None:
        """Set the recipe that the user chose for a model; None removes the choice."""
        if pinned_recipe is None:
            self._pinned_recipes.pop(place, None)
        else:
            self._pinned_recipes[place] = pinned_recipe

    def set_instance(self, place: SymbolId, instance: ForwardInstance | None) -> None:
        """Set the use of a class that the user chose to see; None removes the choice."""
        if instance is None:
            self._instances.pop(place, None)
        else:
            self._instances[place] = instance

    def restore_pinned_recipe(self, place: SymbolId, pinned_recipe: PinnedRecipe) -> None:
        """Add a recipe of an earlier session; a choice of this one has precedence."""
        self._pinned_recipes.setdefault(place, pinned_recipe)

    def restore_instance(self, place: SymbolId, instance: ForwardInstance) -> None:
        """Add a use of an earlier session; a choice of this one has precedence."""
        self._instances.setdefault(place, instance)

    # Texts of documents

    def open(self, document: Document) -> None:
        """Add an open document: its text replaces that of the file."""
        self._on_disk.pop(document.path, None)
        self._background.pop(document.path, None)
        self._unsaved.discard(document.path)
        self._histories[document.path] = History.starting_at(document)
        self._documents[document.path] = document

    def edit(self, document: Document, edits: Sequence[TextEdit]) -> None:
        """Replace the text of an open document, to which ``edits`` lead.

        The edits since each text to which spans still refer are retained. The cursor moves to the last edit.
        """
        path, history = document.path, self._histories.get(document.path)
        if history is None:
            self._histories[path] = History.starting_at(document)
        else:
            self._histories[path] = history.edited(edits, document, self._referenced_digests(path))
        self._documents[path] = document
        if edits:
            self._unsaved.add(path)
            self.set_cursor(path, document.lines.place(edits[-1].start_offset)[0])

    def mark_saved(self, path: str) -> None:
        """Record that an open document equals its file: its edits wait no longer."""
        self._unsaved.discard(path)

    def close(self, path: str) -> None:
        """Remove a document and its models; reports of others that read it stay."""
        for table in (self._documents, self._histories, self._analyses):
            table.pop(path, None)
        self._unparsed.discard(path)
        self._unsaved.discard(path)
        self.models.reset_budget(path)
        self.models.forget(self.models.keys_in(path))

    def set_on_disk(self, document: Document) -> None:
        """Set the text of a closed file: traces of another program are outdated."""
        self._on_disk[document.path] = document
        self._remember_form(document)

    def update_bases(self, path: str) -> bool:
        """Update what an open document knows of its classes' bases, from the index.

        Returns:
            Whether that is new.
        """
        document = self._documents.get(path)
        updated = None if document is None else document.with_external_bases(self._index.external_bases(path))
        if updated is None or updated is document:
            return False
        self._documents[path] = updated
        return True

    # Analyses of documents

    def carry_over_analysis(self, document: Document) -> bool:
        """Pair an open document's new text with the models of the text before.

        They are nearly always the same, so a trace need not wait for the new analysis. An analysis always has a text
        that parses; if the new text does not, the last analysis stays as it is.

        Returns:
            Whether there were models of an earlier text.
        """
        known = self._analyses.get(document.path)
        if known is None or known.document is document:
            return False
        if document.parses:
            self._set_parsed(replace(known, document=document))
        else:
            self.mark_unparsed(document)
        return True

    def mark_unparsed(self, document: Document) -> None:
        """Record that a document's text does not parse; the last analysis stays."""
        self._remember_form(document)
        self._unparsed.add(document.path)

    def set_analysis(self, analysis: Analysis) -> Analysis:
        """Set the analysis of an open document's present text.

        Pinned recipes are updated to the recipes that were found; one that a newer comment replaces is dropped.

        Returns:
            The analysis with the pinned recipes in place of others.
        """
        chosen = apply_pinned_recipes(analysis, self._pinned_recipes)
        self._set_parsed(chosen)
        return chosen

    def drop_analyses(self) -> None:
        """Drop all analyses and budgets: they depend on settings that have changed."""
        self._analyses.clear()
        self.models.reset_budgets()

    def set_background(self, document: Document, analysis: Analysis | None) -> None:
        """Set the text and analysis of a background file.

        A model traced on another text is traced again even if the program is the same: no edits relate the two texts.
        Its analysis has no context models, since models of other files are traced in any case.

        Args:
            analysis: None if the text does not parse.
        """
        path = document.path
        self._background[path] = document
        self._remember_form(document)
        self.models.repeat_moved(path, document.digest)
        if analysis is None:
            self._analyses.pop(path, None)
        else:
            self._analyses[path] = replace(analysis, context_models=())

    def drop_background(self, path: str) -> None:
        """Remove a background file with its models, except for context models.

        Data of a document that is open now stays.
        """
        self._background.pop(path, None)
        if path not in self._documents:
            self._analyses.pop(path, None)
            self.models.forget(key for key in self.models.keys_in(path) if key not in self.models.context_models)

    def set_context_models(
        self, context_models: Mapping[ModelKey, ContextModel], states: Mapping[ModelKey, ModelState]
    ) -> None:
        """Replace the context models, each with its state.

        The data of former ones is dropped, unless their file is open or in the background.
        """
        gone = self.models.context_models.keys() - context_models.keys()
        self.models.forget(key for key in gone if key.file not in self._documents and key.file not in self._background)
        self.models.set_context_models(context_models, states)

    # Index of the folders

    def start_indexing(self) -> None:
        """Mark the index as incomplete until the next :meth:`set_index`."""
        self._is_indexed = False

    def set_index(self, index: Index) -> None:
        """Set the complete index of the folders."""
        self._index = index
        self._is_indexed = True

    def update_index(self, path: str, summary: FileSummary | None) -> bool:
        """Set the summary of one file, None if it was deleted.

        Returns:
            Whether the index has changed.
        """
        before = self._index
        self._index = before.with_file(path, summary)
        return self._index is not before

    def set_fx_use(self, folder: str, use: FxUse | None) -> bool:
        """Record the file of a folder that uses torch.fx, None if none does.

        Returns:
            Whether that is new.
        """
        if folder in self._fx_uses and self._fx_uses[folder] == use:
            return False
        self._fx_uses[folder] = use
        return True

    def forget_fx_use(self, folder: str) -> None:
        """Mark a folder as not searched."""
        self._fx_uses.pop(folder, None)

    def _set_parsed(self, analysis: Analysis) -> None:
        self._remember_form(analysis.document)
        self._unparsed.discard(analysis.document.path)
        self._analyses[analysis.document.path] = analysis

    def _remember_form(self, document: Document) -> None:
        """Store a document's normalized digest for comparisons with other texts."""
        self._forms[document.digest] = document.normalized
        self._forms.move_to_end(document.digest)
        while len(self._forms) > _REMEMBERED_FORMS:
            self._forms.popitem(last=False)

    def _is_same_program(self, path: str, digest: str) -> bool:
        present = self.text_to_trace(path)
        if present is None or present.digest == digest:
            return True
        form = self._forms.get(digest)
        return form is not None and form == self._forms.get(present.digest)

    def _referenced_digests(self, path: str) -> Container[str]:
        """Return the digests of the texts of ``path`` to which spans still refer."""
        digests = self.models.texts_of(path)
        settled = self.text_to_trace(path)
        return digests if settled is None else digests | {settled.digest}
