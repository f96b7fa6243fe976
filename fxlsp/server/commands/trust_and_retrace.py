"""Commands that trust the workspace, trace again, and restart the supervisors."""

from __future__ import annotations

from fxlsp.server.session.command_names import RESTART, RETRACE, TRUST
from fxlsp.server.session.server import Server


def register(server: Server) -> None:
    # pygls passes itself first to handlers that accept any object, and the arguments alone to those of strings.

    @server.command(TRUST)
    def trust(*_: str) -> None:
        server.engine.trust()

    @server.command(RETRACE)
    def retrace(*uris: str) -> None:
        """Trace the models of the document whose URI is given, or all."""
        server.engine.retrace(server.path_of(uris[0]) if uris else None)

    @server.command(RESTART)
    async def restart(*_: str) -> None:
        await server.engine.restart()
