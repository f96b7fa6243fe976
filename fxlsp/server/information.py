"""``fxlsp.information``: what the server is doing and with what."""

from __future__ import annotations

from typing import Any

from fxlsp.answers.information import information, information_text
from fxlsp.server.server import Server

INFORMATION = "fxlsp.information"


def register(server: Server) -> None:
    @server.command(INFORMATION)
    def tell(*_: str) -> dict[str, Any]:
        """As data, and as ``text`` for people."""
        facts = information(server.engine.snapshot, server.engine.at_rest)
        return {**facts, "text": information_text(facts)}
