"""Questions and messages to the user, where the editor has no interface for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.server.shared.server import Server

T = TypeVar("T")


async def resolve_model(
    server: Server,
    arguments: Sequence[str],
    names: Callable[[Snapshot, str], Sequence[str]],
    question: str,
    nothing: str,
) -> tuple[str, str] | None:
    """Return path and name of the model that a command is about; None without one.

    It is the one that the editor names, else the one that the user picks.

    Args:
        arguments: the URI of a document and the name of a model in it, as far as the editor sends them.
        names: returns the models of an open file that are candidates.
        question: the question to the user.
        nothing: the message where there are no candidates.
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
    """Return what belongs to the title that the user picks; None without an answer."""
    actions = [types.MessageActionItem(title=title) for title in answers]
    params = types.ShowMessageRequestParams(type=types.MessageType.Info, message=question, actions=actions)
    try:
        picked = await server.window_show_message_request_async(params)
    except JsonRpcException:
        return None
    return None if picked is None else answers.get(picked.title)


def show_info(server: Server, message: str) -> None:
    """Show a message to the user."""
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))


def show_warning(server: Server, message: str) -> None:
    """Show a warning to the user."""
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))
