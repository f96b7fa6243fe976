"""What is wrong in ``pyproject.toml``, pushed: editors ask for problems of the Python files that they open, and a file
that they do not open with this server they never ask about."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.engine.session.workspace import SnapshotChange
from fxlsp.ide.setting_problems import setting_problems
from fxlsp.server.publish.diagnostic import to_diagnostic
from fxlsp.server.session.server import Server
from fxlsp.server.session.text_documents import sheet_at
from fxlsp.source.text.documents import Document, uri_of_path


class SettingDiagnostics:
    """Keeps the editor's problems of the settings files as they are."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._told: dict[str, list[types.Diagnostic]] = {}

    def update(self, _: SnapshotChange) -> None:
        """Follows a change of the session."""
        texts = self._server.engine.snapshot.setting_texts
        for path in self._told.keys() - texts.keys():
            self._tell(path, [])
        for path, text in texts.items():
            self._tell(path, self._diagnostics(path, text))

    def _diagnostics(self, path: str, text: str) -> list[types.Diagnostic]:
        snapshot = self._server.engine.snapshot
        problems = setting_problems(snapshot, path)
        sheet = sheet_at(Document(uri_of_path(path), path, None, text), 1, self._server.encoding)
        return [to_diagnostic(self._server, snapshot, sheet, problem) for problem in problems]

    def _tell(self, path: str, diagnostics: list[types.Diagnostic]) -> None:
        if diagnostics != self._told.get(path, []):
            params = types.PublishDiagnosticsParams(uri=uri_of_path(path), diagnostics=diagnostics)
            self._server.text_document_publish_diagnostics(params)
        self._told[path] = diagnostics
