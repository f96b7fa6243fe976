"""``workspace/executeCommand``: trust the workspace, trace again, restart the tracing processes."""

from __future__ import annotations

from fxlsp.server.server import Server
from fxlsp.source.documents import path_of_uri

TRUST = "fxlsp.trust"
RETRACE = "fxlsp.retrace"
RESTART = "fxlsp.restart"


def register(server: Server) -> None:
    @server.command(TRUST)
    def trust(*_: object) -> None:
        server.engine.trust()

    @server.command(RETRACE)
    def retrace(*arguments: object) -> None:
        """Traces the models of the document whose URI is given, or all."""
        uri = arguments[0] if arguments else None
        server.engine.retrace(path_of_uri(uri) if isinstance(uri, str) else None)

    @server.command(RESTART)
    async def restart(*_: object) -> None:
        await server.engine.restart()
