"""The server object: what all features share."""

from __future__ import annotations

import logging
import threading

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from fxlsp import __version__
from fxlsp.engine.session.file_cache import FileCache
from fxlsp.engine.session.workspace import Workspace
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.server.publish.steady_hints import SteadyHints
from fxlsp.server.session.capabilities import Support
from fxlsp.server.session.protocol import Protocol
from fxlsp.server.session.text_documents import TextDocument, text_document_at, text_document_by_uri
from fxlsp.source.text.documents import path_of_uri
from fxlsp.source.text.positions import Encoding

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])],
    save=True,
)
"""Their Python cells. Editors that know no notebooks are not told of it."""

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


_log = logging.getLogger("fxlsp.server")


class NotInitializedError(Exception):
    """A message came before ``initialize``."""


class Server(LanguageServer):
    """One editor's session."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("fxlsp", __version__, protocol_cls=Protocol, notebook_document_sync=_NOTEBOOKS)
        self.protocol.finish = self.finish
        self.support = Support()
        self.encoding: Encoding = "utf-16"
        self.exit_code = 1
        """1 as long as the editor has not said goodbye."""
        self.finished = threading.Event()
        """The transport reads no further message."""
        self.disk = FileCache()
        """Files that are not open, where an answer leads to one."""
        self.steady_hints: SteadyHints | None = None
        """For an editor that can be told to ask for hints again."""
        self._engine: Workspace | None = None

    @property
    def engine(self) -> Workspace:
        """The session without LSP.

        Raises:
            NotInitializedError: there is none before ``initialize``.
        """
        if self._engine is None:
            raise NotInitializedError("the first message must be 'initialize'")
        return self._engine

    @property
    def has_session(self) -> bool:
        """Whether an editor has introduced itself."""
        return self._engine is not None

    def start_session(self, params: types.InitializeParams, engine: Workspace) -> None:
        """Starts the session that ``initialize`` asks for."""
        self._engine = engine
        self.support = Support.of(params.capabilities)
        self.encoding = _ENCODINGS[ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)]

    def finish(self, exit_code: int) -> None:
        """Ends the session after the message that is being handled."""
        self.exit_code = exit_code
        self.finished.set()

    async def close(self) -> None:
        """Ends every process of the session."""
        if self._engine is not None:
            await self._engine.shutdown()
            self._engine = None

    def report_server_error(self, error: Exception, source: object) -> None:
        """Into the log. pygls would pop up a message for each: with a mistake in ``didChange``, one a keystroke."""
        _log.error("%s: %s", type(error).__name__, error, exc_info=error)

    def find_text_document(self, uri: str) -> tuple[Snapshot, TextDocument | None]:
        """The last snapshot, and in it the file or cell that the editor calls ``uri``; None if it is not open."""
        snapshot = self.engine.snapshot
        document = snapshot.documents.get(path_of_uri(uri))
        if document is not None and document.cells is None:
            return snapshot, text_document_at(document, 1, self.encoding)
        return snapshot, text_document_by_uri(snapshot.documents.values(), uri, self.encoding)

    def path_of(self, uri: str) -> str:
        """The path of the document that the editor calls ``uri``, or of which that is a cell."""
        _, text_document = self.find_text_document(uri)
        return path_of_uri(uri) if text_document is None else text_document.path
