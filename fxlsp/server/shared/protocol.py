"""pygls' protocol with corrections where it leaks or corrupts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import MsgId
from pygls.protocol.language_server import lsp_method

if TYPE_CHECKING:
    from cattrs import Converter

_DOCUMENT_METHODS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)
"""pygls would store documents too, and split their lines at form feeds. The engine stores them."""
_INVALID_PARAMS = JsonRpcInvalidParams("the parameters are not those of this method")
_AFTER_SHUTDOWN = JsonRpcInvalidRequest("the server is shutting down")
_PROGRESS_METHOD = types.WINDOW_WORK_DONE_PROGRESS_CANCEL
"""pygls would look up the progress among those that it has created itself."""


class Protocol(LanguageServerProtocol):
    """Protocol that releases what belongs to a message once it is handled.

    It ends by the end of the loop, not by an exception.
    """

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.finish: Callable[[int], object] = sys.exit
        """Ends the session with an exit code, at the editor's request.

        pygls creates the protocol, so it is set afterwards.
        """
        for method in (*_DOCUMENT_METHODS, _PROGRESS_METHOD):
            del self.fm.builtin_features[method]

    @property
    def pending(self) -> int:
        """Number of messages in either direction that are not completed."""
        return len(self._request_futures) + len(self._result_types)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the message that a JSON object is, or the object itself if it is none.

        A request that is none of its method is answered with an error: pygls would leave it without an answer.

        Raises:
            JsonRpcException: the object is not what its method takes.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "method" in data and isinstance(data.get("id"), (int, str)):
                self._send_response(data["id"], error=_INVALID_PARAMS.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        if self._shutdown and getattr(message, "method", types.EXIT) != types.EXIT and hasattr(message, "id"):
            # pygls would not answer.
            self._send_response(message.id, error=_AFTER_SHUTDOWN.to_response_error())
        else:
            super().handle_message(message)

    def _execute_handler(
        self,
        msg_id: MsgId,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def finish(future: Future[Any]) -> None:
            callback(future)
            # pygls does this for requests only: each notification would leave a future behind.
            if self._request_futures.get(msg_id) is future:
                del self._request_futures[msg_id]

        super()._execute_handler(msg_id, handler, finish, args, kwargs)

    def _handle_response(self, msg_id: MsgId, result: Any | None = None, error: Any | None = None) -> None:
        # pygls forgets the result's type only where there is a result.
        self._result_types.pop(msg_id, None)
        super()._handle_response(msg_id, result, error)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        if (user_handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            yield user_handler, args, None
        # A copy: cancelling a future removes it.
        for msg_id, future in tuple(self._request_futures.items()):
            if msg_id != self.msg_id and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]
        self.finish(0 if self._shutdown else 1)
