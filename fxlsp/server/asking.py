"""Questions to the user, and words for them, where an editor has no interface of its own."""

from __future__ import annotations

from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.server.server import Server

T = TypeVar("T")


async def ask(server: Server, question: str, answers: dict[str, T]) -> T | None:
    """What belongs to the title that the user picks; None if they pick none, or cannot be asked."""
    actions = [types.MessageActionItem(title=title) for title in answers]
    params = types.ShowMessageRequestParams(type=types.MessageType.Info, message=question, actions=actions)
    try:
        picked = await server.window_show_message_request_async(params)
    except JsonRpcException:
        return None
    return None if picked is None else answers.get(picked.title)


def say(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))


def warn(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))
