"""Problems of files that are not open, which are always pushed.

An editor that pulls does so for open files alone, and an editor that does not open ``pyproject.toml`` with this server
never pulls the problems of the settings.
"""

from __future__ import annotations

from lsprotocol import types

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.ide.setting_problems import setting_problems
from fxlsp.server.publish.diagnostic import to_diagnostic
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import text_document_at
from fxlsp.server.typing.problem_feed import ProblemFeed
from fxlsp.source.text.documents import Document, uri_of_path


class WorkspaceDiagnostics:
    """Publisher of the problems of models in files that are not open."""

    def __init__(self, server: Server, feed: ProblemFeed) -> None:
        self._server = server
        self._feed = feed
        self._published: dict[str, list[types.Diagnostic]] = {}
        """By path, of files with problems."""

    def update(self, change: SnapshotChange) -> None:
        """Follow a change of the session.

        It must be called before the publisher of the problems of open documents.
        """
        background = self._server.engine.snapshot.background
        for path in self._published.keys() - background.keys():
            self._publish(path, [])
        # An edit of another file changes nothing here before it is traced.
        paths = background.keys() if change.cause == "session" else background.keys() & change.paths
        for path in paths:
            self._publish(path, self._diagnostics(background[path]))

    def rested(self) -> None:
        """Show what was held back while the user typed."""
        self.update(SnapshotChange("session"))

    def _diagnostics(self, document: Document) -> list[types.Diagnostic]:
        server, snapshot = self._server, self._server.engine.snapshot
        text_document = text_document_at(document, 1, server.encoding)
        return [
            to_diagnostic(server, snapshot, text_document, problem)
            for problem in self._feed.problems(snapshot, document.path)
        ]

    def _publish(self, path: str, diagnostics: list[types.Diagnostic]) -> None:
        if diagnostics != self._published.pop(path, []):
            params = types.PublishDiagnosticsParams(uri=uri_of_path(path), diagnostics=diagnostics)
            self._server.text_document_publish_diagnostics(params)
        if diagnostics:
            self._published[path] = diagnostics


class SettingDiagnostics:
    """Publisher of the problems of the settings files."""

    def __init__(self, server: Server, feed: ProblemFeed) -> None:
        self._server = server
        self._feed = feed
        self._published: dict[str, list[types.Diagnostic]] = {}

    def update(self, _: SnapshotChange) -> None:
        """Follow a change of the session."""
        texts = self._server.engine.snapshot.setting_texts
        for path in self._published.keys() - texts.keys():
            self._publish(path, [])
        for path, text in texts.items():
            self._publish(path, self._diagnostics(path, text))

    def rested(self) -> None:
        """Show what was held back while the user typed."""
        self.update(SnapshotChange("session"))

    def _diagnostics(self, path: str, text: str) -> list[types.Diagnostic]:
        snapshot = self._server.engine.snapshot
        problems = self._feed.select(snapshot, path, setting_problems(snapshot, path))
        text_document = text_document_at(Document(uri_of_path(path), path, None, text), 1, self._server.encoding)
        return [to_diagnostic(self._server, snapshot, text_document, problem) for problem in problems]

    def _publish(self, path: str, diagnostics: list[types.Diagnostic]) -> None:
        if diagnostics != self._published.get(path, []):
            params = types.PublishDiagnosticsParams(uri=uri_of_path(path), diagnostics=diagnostics)
            self._server.text_document_publish_diagnostics(params)
        self._published[path] = diagnostics
