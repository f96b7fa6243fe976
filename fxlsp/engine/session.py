"""The state of a session that changes: one loop changes it, and everybody else sees its snapshots."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from fxlsp.engine.analysis import Analysis, Guest
from fxlsp.engine.folders import Folder, folder_of
from fxlsp.engine.history import History
from fxlsp.engine.index import Index, Place
from fxlsp.engine.instances import Instance
from fxlsp.engine.pins import Pin
from fxlsp.engine.store import ModelKey, ModelState
from fxlsp.source.documents import Document, TextEdit

_REMEMBERED_FORMS = 4096
DEADLY = 2
"""Deaths on the same texts after which a model is poisoned."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The newest trace of a model that came to an end, in whatever way."""

    number: int
    """Grows with each request of the session."""
    texts: Mapping[str, str]
    """Digest of each text on which the outcome depends, by path: another outcome needs another text."""
    deaths: int = 0
    """How often in a row the trace died on these texts."""
    again: bool = False
    """It is to be repeated although the texts are the same."""


@dataclass(frozen=True, slots=True)
class FxUse:
    """A file that uses torch.fx."""

    path: str
    words: str
    """What of it the file names."""


@dataclass(slots=True)
class Session:
    """Documents, models and what was tried; the rules about them are in the modules that take a session."""

    folders: tuple[Folder, ...] = ()
    trusted: bool = False
    documents: dict[str, Document] = field(default_factory=dict)
    """The open ones by path."""
    on_disk: dict[str, Document] = field(default_factory=dict)
    """Files that are not open and have changed since a trace read them, by path."""
    histories: dict[str, History] = field(default_factory=dict)
    analyses: dict[str, Analysis] = field(default_factory=dict)
    """Of each document, open or in the background, the newest that parsed."""
    background: dict[str, Document] = field(default_factory=dict)
    """Files that are not open and whose problems are wanted all the same, by path."""
    guests: dict[ModelKey, Guest] = field(default_factory=dict)
    """Models of files that are not open, traced for the sake of documents that are."""
    pins: dict[Place, Pin] = field(default_factory=dict)
    """The recipes that the user chose, also of documents that were closed since."""
    instances: dict[Place, Instance] = field(default_factory=dict)
    """Of a class that is used in several places, the use that the user chose to see."""
    unsaved: set[str] = field(default_factory=set)
    """Open documents that were edited since they were opened or saved."""
    unparsed: set[str] = field(default_factory=set)
    """Open documents whose present text does not parse."""
    states: dict[ModelKey, ModelState] = field(default_factory=dict)
    attempts: dict[ModelKey, Attempt] = field(default_factory=dict)
    under_way: dict[ModelKey, Mapping[str, str]] = field(default_factory=dict)
    """Digests of the texts sent with the trace that runs, by path."""
    covers: dict[ModelKey, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """The classes that a model's report covers, by the path of their file."""
    spent_ms: dict[str, float] = field(default_factory=dict)
    """Worker time that first traces of a file's models took since it was opened or edited."""
    fx_uses: dict[str, FxUse | None] = field(default_factory=dict)
    """Of each folder that was looked into, a file that uses torch.fx; None if none does."""
    index: Index = field(default_factory=lambda: Index({}))
    """What the files of the folders offer, open ones as they stand in the editor."""
    is_indexed: bool = False
    """The folders have been read: what is not in the index is not there."""
    cursor: tuple[str, int] | None = None
    """Path and line of the last hover, lens or edit."""
    _forms: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Normalized digest by text digest."""

    def folder_of(self, path: str) -> Folder:
        return folder_of(path, self.folders)

    def is_excluded(self, path: str) -> bool:
        """Whether the settings leave a file out: nothing of it is traced, whoever opens it."""
        return self.folder_of(path).settings.exclude(path)

    def is_held_back(self, path: str) -> bool:
        """Whether the edits of a document wait until it is saved. One that has no file can only be typed."""
        document = self.documents.get(path)
        if path not in self.unsaved or document is None or not document.uri.startswith("file:"):
            return False
        return self.folder_of(path).settings.retrace == "save"

    def put(self, document: Document, edits: Sequence[TextEdit] | None = None) -> None:
        """Makes ``document`` the present text of its path; without ``edits`` it has just been opened."""
        history = self.histories.get(document.path)
        if edits is None or history is None:
            self.histories[document.path] = History.starting_at(document)
        else:
            self.histories[document.path] = history.edited(edits, document, self._referenced(document.path))
        self.documents[document.path] = document

    def remember_form(self, document: Document) -> None:
        """Makes the document comparable to others; computes its normalized digest where that has not been done."""
        self._forms[document.digest] = document.normalized
        self._forms.move_to_end(document.digest)
        while len(self._forms) > _REMEMBERED_FORMS:
            self._forms.popitem(last=False)

    def holds(self, texts: Mapping[str, str]) -> bool:
        """Whether each of these texts is still the program that is there, comments and layout aside."""
        return all(self._same(path, digest) for path, digest in texts.items())

    def settled_text(self, path: str) -> Document | None:
        """The text of ``path`` that traces are given: of an open document the newest that parsed, if one did.

        None for a file that is as it was when a trace read it from disk.
        """
        analysis = self.analyses.get(path)
        if analysis is not None:
            return analysis.document
        document = self.documents.get(path)
        return self.on_disk.get(path) if document is None else document.program

    def _same(self, path: str, digest: str) -> bool:
        present = self.settled_text(path)
        if present is None or present.digest == digest:
            return True
        form = self._forms.get(digest)
        return form is not None and form == self._forms.get(present.digest)

    def _referenced(self, path: str) -> Container[str]:
        """Digests of the texts of ``path`` from which spans are still to be moved."""
        texts = [text for state in self.states.values() for text in (state.texts, state.failure_texts)]
        digests = {text[path] for text in (*texts, *self.under_way.values()) if path in text}
        settled = self.settled_text(path)
        return digests if settled is None else digests | {settled.digest}
