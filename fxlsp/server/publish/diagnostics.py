"""Problems of open documents as LSP diagnostics.

They are pushed with the document's version, or pulled by editors that support that. Never both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.ide.problems import FileProblem
from fxlsp.ide.repeated_problems import listed_once
from fxlsp.server.publish.diagnostic import to_diagnostic
from fxlsp.server.publish.refresh import Refresher
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import TextDocument, text_documents_of
from fxlsp.server.typing.problem_feed import ProblemFeed
from fxlsp.server.typing.typing_state import TypingState
from fxlsp.source.text.documents import path_of_uri


@dataclass(frozen=True, slots=True)
class Published:
    """Diagnostics last published for one file or cell."""

    version: int | None
    diagnostics: list[types.Diagnostic]


class Diagnostics:
    """Publisher of the problems of open documents."""

    def __init__(self, server: Server, refresher: Refresher, feed: ProblemFeed) -> None:
        self._server = server
        self._refresher = refresher
        self._feed = feed
        self._paths: set[str] = set()
        self._published: dict[str, Published] = {}
        """By URI."""

    def update(self, change: SnapshotChange) -> None:
        """Follow a change of the session."""
        documents = self._server.engine.snapshot.documents
        text_documents = {
            path: text_documents_of(document, self._server.encoding) for path, document in documents.items()
        }
        for uri in self._published.keys() - {
            text_document.uri for each in text_documents.values() for text_document in each
        }:
            self._close(uri)
        for path in self._paths - documents.keys():
            self._feed.forget(path)
        self._paths = set(documents)
        # An editor that pulls does so after each edit, without a request, but perhaps not before the next one.
        if self._server.support.pulls_problems and change.cause == "edit":
            for path in change.paths & documents.keys():
                self._feed.problems(self._server.engine.snapshot, path)
            return
        self._publish_all(text_documents)

    def rested(self) -> None:
        """Show what was held back while the user typed."""
        documents = self._server.engine.snapshot.documents
        self._publish_all({path: text_documents_of(each, self._server.encoding) for path, each in documents.items()})

    def current(self, text_document: TextDocument) -> list[types.Diagnostic]:
        """Return the present diagnostics of a file or cell, which the editor shows from now on."""
        diagnostics = self._shown(text_document, self._feed.problems(self._server.engine.snapshot, text_document.path))
        # What differs from it later is a reason to request another pull.
        self._published[text_document.uri] = Published(text_document.version, diagnostics)
        return diagnostics

    def _shown(self, text_document: TextDocument, problems: Iterable[FileProblem]) -> list[types.Diagnostic]:
        snapshot = self._server.engine.snapshot
        path = text_document.path
        once = listed_once(path, snapshot.document(path), problems)
        here = (problem for problem in once if text_document.shows(problem.span.line))
        return [to_diagnostic(self._server, snapshot, text_document, problem) for problem in here]

    def _publish_all(self, text_documents: Mapping[str, Sequence[TextDocument]]) -> None:
        changed = [path for path, each in text_documents.items() if self._publish(path, each)]
        if changed and self._server.support.pulls_problems:
            self._refresher.diagnostics()

    def _publish(self, path: str, text_documents: Sequence[TextDocument]) -> bool:
        """Push the problems of a document to an editor that does not pull.

        Returns:
            Whether they differ from those published before.
        """
        problems = self._feed.problems(self._server.engine.snapshot, path)
        changed = [
            self._publish_one(text_document, self._shown(text_document, problems)) for text_document in text_documents
        ]
        return any(changed)

    def _publish_one(self, text_document: TextDocument, diagnostics: list[types.Diagnostic]) -> bool:
        before = self._published.get(text_document.uri, Published(None, []))
        self._published[text_document.uri] = Published(text_document.version, diagnostics)
        is_new = diagnostics != before.diagnostics
        # The same problems are sent for a new version: an editor may drop those of an old one.
        if is_new or (diagnostics and text_document.version != before.version):
            self._send(text_document.uri, text_document.version, diagnostics)
        return is_new

    def _close(self, uri: str) -> None:
        published = self._published.pop(uri)
        if published.diagnostics:
            self._send(uri, None, [])

    def _send(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        if not self._server.support.pulls_problems:
            params = types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
            self._server.text_document_publish_diagnostics(params)


def register_save(server: Server, typing: TypingState) -> None:
    """Register ``didSave`` of files and notebooks.

    The user of a document that is saved is done with its text.
    """

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        saved(server.path_of(params.text_document.uri))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save_notebook(params: types.DidSaveNotebookDocumentParams) -> None:
        saved(path_of_uri(params.notebook_document.uri))

    def saved(path: str) -> None:
        server.engine.saved(path)
        typing.rest(path)
