"""The server object, which all features share."""

from __future__ import annotations

import logging
import threading

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from fxlsp import __version__
from fxlsp.engine.running.engine import Engine
from fxlsp.engine.running.file_cache import FileCache
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.server.shared.capabilities import Support
from fxlsp.server.shared.protocol import Protocol
from fxlsp.server.shared.related_texts import RelatedTexts
from fxlsp.server.shared.text_documents import TextDocument, text_document_at, text_document_by_uri
from fxlsp.server.typing.problem_feed import ProblemFeed
from fxlsp.server.typing.steady_hints import SteadyHints
from fxlsp.server.typing.typing_state import TypingState
from fxlsp.source.text.documents import path_of_uri
from fxlsp.source.text.positions import Encoding

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])],
    save=True,
)
"""Python cells of all notebooks. The option is left out for editors without notebook support."""

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


_log = logging.getLogger("fxlsp.server")


class NotInitializedError(Exception):
    """A message arrived before ``initialize``."""


class Server(LanguageServer):
    """Server of one editor's session."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("fxlsp", __version__, protocol_cls=Protocol, notebook_document_sync=_NOTEBOOKS)
        self.protocol.finish = self.finish
        self.support = Support()
        self.encoding: Encoding = "utf-16"
        self.exit_code = 1
        """1 until the editor has sent ``shutdown`` and ``exit``."""
        self.finished = threading.Event()
        """Set when the transport must read no further message."""
        self.disk = FileCache()
        """Files that are not open, for answers that lead to one."""
        self.related_texts = RelatedTexts(self.disk)
        self.steady_hints: SteadyHints | None = None
        """For an editor that accepts refresh requests for hints; else None."""
        self.typing_state = TypingState()
        self.problem_feed = ProblemFeed(self.typing_state)
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The engine of the session.

        Raises:
            NotInitializedError: ``initialize`` has not arrived yet.
        """
        if self._engine is None:
            raise NotInitializedError("the first message must be 'initialize'")
        return self._engine

    @property
    def has_session(self) -> bool:
        """Whether an editor has sent ``initialize``, and is still there."""
        return self._engine is not None

    def start_session(self, params: types.InitializeParams, engine: Engine) -> None:
        """Start the session that ``initialize`` requests."""
        self._engine = engine
        self.support = Support.of(params.capabilities)
        self.encoding = _ENCODINGS[ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)]

    def finish(self, exit_code: int) -> None:
        """End the session after the message that is being handled."""
        self.exit_code = exit_code
        self.finished.set()

    async def close(self) -> None:
        """End every process of the session."""
        self.typing_state.close()
        await self.related_texts.close()
        if self._engine is not None:
            await self._engine.shutdown()
            self._engine = None

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log an error of a handler.

        pygls would show a message for each: with an error in ``didChange``, one a keystroke.
        """
        _log.error("%s: %s", type(error).__name__, error, exc_info=error)

    def find_text_document(self, uri: str) -> tuple[Snapshot, TextDocument | None]:
        """Return the last snapshot, and in it the file or cell with a URI.

        The second is None if no such document is open.
        """
        snapshot = self.engine.snapshot
        document = snapshot.documents.get(path_of_uri(uri))
        if document is not None and document.cells is None:
            return snapshot, text_document_at(document, 1, self.encoding)
        return snapshot, text_document_by_uri(snapshot.documents.values(), uri, self.encoding)

    def path_of(self, uri: str) -> str:
        """Return the path of a document, or of the notebook that contains the cell."""
        _, text_document = self.find_text_document(uri)
        return path_of_uri(uri) if text_document is None else text_document.path
