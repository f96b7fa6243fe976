"""``fxlsp.information``: the state of the server and its interpreters."""

from __future__ import annotations

from typing import Any

from fxlsp.ide.status import information, information_text
from fxlsp.server.shared.command_names import INFORMATION
from fxlsp.server.shared.server import Server


def register(server: Server) -> None:
    @server.command(INFORMATION)
    def information_command(*_: str) -> dict[str, Any]:
        """Return the state as data, and as ``text`` for people."""
        is_holding = server.steady_hints is not None and server.steady_hints.is_waiting
        is_holding |= server.problem_feed.is_waiting
        facts = information(server.engine.snapshot, server.engine.is_idle and not is_holding)
        return {**facts, "text": information_text(facts)}
