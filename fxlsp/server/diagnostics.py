"""Problems as LSP diagnostics: pushed with the document's version, or pulled by editors that can. Never both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lsprotocol import types

from fxlsp.engine.workspace import Change
from fxlsp.server.diagnostic import to_diagnostic
from fxlsp.server.problem_feed import ProblemFeed
from fxlsp.server.refresh import Refresher
from fxlsp.server.server import Server
from fxlsp.source.documents import Document, path_of_uri


@dataclass(frozen=True, slots=True)
class Told:
    """What the editor was told last about one document."""

    uri: str
    version: int | None
    diagnostics: list[types.Diagnostic]


class Diagnostics:
    """Keeps the editor's problems of the open documents as they are."""

    def __init__(self, server: Server, refresher: Refresher) -> None:
        self._server = server
        self._refresher = refresher
        self._feed = ProblemFeed(self._rested)
        self._told: dict[str, Told] = {}

    def update(self, change: Change) -> None:
        """Follows a change of the session."""
        documents = self._server.engine.snapshot.documents
        for path in self._told.keys() - documents.keys():
            self._close(path)
        # An editor that pulls does so after each edit of its own accord.
        if self._server.support.pulls_problems and change.cause == "edit":
            return
        changed = [path for path, document in documents.items() if self._tell(document)]
        if changed and self._server.support.pulls_problems:
            self._refresher.diagnostics()

    def saved(self, path: str) -> None:
        """The user rests."""
        self._feed.rest(path)

    def current(self, document: Document) -> list[types.Diagnostic]:
        """What there is to tell about a document now."""
        snapshot = self._server.engine.snapshot
        problems = self._feed.problems(snapshot, document.path)
        return [to_diagnostic(self._server, snapshot, document, problem) for problem in problems]

    def _rested(self, path: str) -> None:
        document = self._server.engine.snapshot.documents.get(path)
        if document is not None and self._tell(document) and self._server.support.pulls_problems:
            self._refresher.diagnostics()

    def _tell(self, document: Document) -> bool:
        """Tells the problems of a document to an editor that does not pull; whether they differ from those before."""
        diagnostics = self.current(document)
        before = self._told.get(document.path, Told(document.uri, None, []))
        self._told[document.path] = Told(document.uri, document.version, diagnostics)
        is_new = diagnostics != before.diagnostics
        # Of the same problems the version is new: an editor may drop those of an old one.
        if is_new or (diagnostics and document.version != before.version):
            self._send(document.uri, document.version, diagnostics)
        return is_new

    def _close(self, path: str) -> None:
        told = self._told.pop(path)
        self._feed.forget(path)
        if told.diagnostics:
            self._send(told.uri, None, [])

    def _send(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        if not self._server.support.pulls_problems:
            params = types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
            self._server.text_document_publish_diagnostics(params)


def register_pull(server: Server, diagnostics: Diagnostics) -> None:
    """Answers ``textDocument/diagnostic``; registered only for editors that pull."""
    options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier=server.name)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    def document_diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        _, document = server.open_document(params.text_document.uri)
        items = diagnostics.current(document) if document is not None else []
        result_id = _result_id(items)
        if result_id == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def register_save(server: Server, diagnostics: Diagnostics) -> None:
    """Lets ``textDocument/didSave`` count as rest."""

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of_uri(params.text_document.uri)
        server.engine.saved(path)
        diagnostics.saved(path)


def _result_id(items: list[types.Diagnostic]) -> str:
    return hashlib.sha256(repr(items).encode("utf-8", "surrogatepass")).hexdigest()[:16]
