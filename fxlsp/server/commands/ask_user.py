"""Questions to the user, and words for them, where an editor has no interface of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.server.session.server import Server

T = TypeVar("T")


async def resolve_model(
    server: Server,
    arguments: Sequence[str],
    names: Callable[[Snapshot, str], Sequence[str]],
    question: str,
    nothing: str,
) -> tuple[str, str] | None:
    """Path and name of the model that is meant: what the editor says, else what the user picks.

    Args:
        arguments: the URI of a document and the name of a model in it, as far as the editor gives them.
        names: the models of an open file that come into question.
        question: what to ask_user, and ``nothing`` what to show_info where there are none.
    """
    if len(arguments) > 1:
        return server.path_of(arguments[0]), arguments[1]
    snapshot = server.engine.snapshot
    paths = [server.path_of(arguments[0])] if arguments else list(snapshot.documents)
    found = {f"{name} ({path})": (path, name) for path in paths for name in names(snapshot, path)}
    if not found:
        show_info(server, nothing)
        return None
    return await ask_user(server, question, found)


async def ask_user(server: Server, question: str, answers: dict[str, T]) -> T | None:
    """What belongs to the title that the user picks; None if they pick none, or cannot be asked."""
    actions = [types.MessageActionItem(title=title) for title in answers]
    params = types.ShowMessageRequestParams(type=types.MessageType.Info, message=question, actions=actions)
    try:
        picked = await server.window_show_message_request_async(params)
    except JsonRpcException:
        return None
    return None if picked is None else answers.get(picked.title)


def show_info(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))


def show_warning(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))
