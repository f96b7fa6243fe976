"""``workspace/executeCommand``: trust the workspace, trace again, restart the tracing processes."""

from __future__ import annotations

from fxlsp.server.session.command_names import RESTART, RETRACE, TRUST
from fxlsp.server.session.server import Server


def register(server: Server) -> None:
    # pygls passes itself first to what accepts any object; it passes no more than the arguments to what takes strings.

    @server.command(TRUST)
    def trust(*_: str) -> None:
        server.engine.trust()

    @server.command(RETRACE)
    def retrace(*uris: str) -> None:
        """Traces the models of the document whose URI is given, or all."""
        server.engine.retrace(server.path_of(uris[0]) if uris else None)

    @server.command(RESTART)
    async def restart(*_: str) -> None:
        await server.engine.restart()
