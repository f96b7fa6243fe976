"""Commands that trust the workspace, trace again, and restart the supervisors."""

from __future__ import annotations

import asyncio

from fxlsp.engine.storage.trusted_folders import TrustedFolders
from fxlsp.server.log import log
from fxlsp.server.shared.command_names import RESTART, RETRACE, TRUST
from fxlsp.server.shared.server import Server

_FORGET = "forget"


def register(server: Server) -> None:
    # pygls passes itself first to handlers that accept any object, and the arguments alone to those of strings.

    @server.command(TRUST)
    async def trust(*arguments: str) -> None:
        """Trust the workspace, now and in later sessions; with ``"forget"`` take that back."""
        stored, folders = TrustedFolders(), server.engine.folders
        try:
            if _FORGET in arguments:
                server.engine.end_trust()
                await asyncio.to_thread(stored.remove, folders)
            else:
                server.engine.trust()
                await asyncio.to_thread(stored.add, folders)
        except OSError as error:
            log.warning("what you trust holds for this session alone: %s cannot be written: %s", stored.path, error)

    @server.command(RETRACE)
    def retrace(*uris: str) -> None:
        """Trace the models of the document whose URI is given, or all."""
        server.engine.retrace(server.path_of(uris[0]) if uris else None)

    @server.command(RESTART)
    async def restart(*_: str) -> None:
        await server.engine.restart()
