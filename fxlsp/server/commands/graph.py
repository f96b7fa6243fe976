"""``fxlsp.showGraph``: writes the graph of a model as a page and shows it.

Its arguments are the URI of a document, the name of a model in it or null, and an object of what to show first:
``node``, the name of one, or ``position``. With ``"show": false`` in it the page is only written, for an editor that
has a view of its own, and with ``"quiet": true`` no message is shown where there is no graph. The answer is
``{"path", "uri", "model", "node", "modulePath"}``, null where there is no graph.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.graphview.cache import page_path, write_page
from fxlsp.graphview.editor_links import EDITORS
from fxlsp.graphview.html import page_of_picture
from fxlsp.graphview.picture import picture_of
from fxlsp.graphview.selection import GraphChoice, choose_graph
from fxlsp.ide.model_status import status_text
from fxlsp.server.commands.ask_user import show_info, show_warning
from fxlsp.server.shared.command_names import SHOW_GRAPH
from fxlsp.server.shared.server import Server
from fxlsp.source.text.documents import uri_of_path


def register(server: Server) -> None:
    @server.command(SHOW_GRAPH)
    async def show_graph(ls: Server, *arguments: Any) -> dict[str, Any] | None:
        uri, name, *rest = (*arguments, None, None)[: max(len(arguments), 2)]
        options = _as_dict(rest[0]) if rest else {}
        path = ls.path_of(uri) if uri else None
        choice = None if path is None else _chosen(ls, uri, name, options)
        if path is None or choice is None:
            if not options.get("quiet"):
                show_info(ls, _no_graph_text(ls, path, name))
            return None
        try:
            page = await asyncio.get_running_loop().run_in_executor(None, _write, choice)
        except OSError as error:
            show_warning(ls, f"The graph could not be written: {error}")
            return None
        if options.get("show", True):
            await _show(ls, page, choice.fragment)
        return {
            "path": page,
            "uri": _address(page, choice.fragment),
            "model": choice.state.key.name,
            "node": choice.node,
            "modulePath": choice.path,
        }


def _as_dict(options: Any) -> dict[str, Any]:
    """Return an object of the arguments as a dict, with the objects in it.

    pygls makes objects with attributes of what has no type in the protocol.
    """
    if hasattr(options, "_asdict"):
        return {
            name: _as_dict(value) if hasattr(value, "_asdict") else value for name, value in options._asdict().items()
        }
    return options if isinstance(options, dict) else {}


def _chosen(server: Server, uri: str, name: str | None, options: dict[str, Any]) -> GraphChoice | None:
    snapshot, text_document = server.find_text_document(uri)
    position, place = options.get("position"), None
    if position and text_document is not None:
        place = text_document.place(types.Position(line=int(position["line"]), character=int(position["character"])))
    choice = choose_graph(snapshot, server.path_of(uri), name, place)
    node = options.get("node")
    return replace(choice, node=str(node), path=None) if choice is not None and node else choice


def _write(choice: GraphChoice) -> str:
    """Write the page and return its path.

    It does not run on the server's loop: a page of 2,000 nodes takes a tenth of a second, and the disk its time.

    Raises:
        OSError: it cannot be written.
    """
    picture = picture_of(choice.report, choice.moved)
    # The user, who has the file open, knows its folder.
    picture["title"] = f"{os.path.basename(choice.state.key.file)}:{choice.state.key.name}"
    if choice.is_stale:
        picture["facts"].append("of an earlier text")
    path = page_path(choice.state.key.file, choice.state.key.name)
    write_page(path, page_of_picture(picture, link=EDITORS["vscode"]))
    return str(path)


def _address(page: str, fragment: str) -> str:
    return uri_of_path(page) + (f"#{fragment}" if fragment else "")


async def _show(server: Server, page: str, fragment: str) -> None:
    """Show the page in the editor, else show a message with its path."""
    if server.support.shows_documents:
        params = types.ShowDocumentParams(uri=_address(page, fragment), external=True)
        try:
            if (await server.window_show_document_async(params)).success:
                return
        except JsonRpcException:
            pass  # The editor announces the capability and then fails: show the path instead.
    show_info(server, f"The graph is in {page}")


def _no_graph_text(server: Server, path: str | None, name: str | None) -> str:
    """Return the message for a model or file without a graph."""
    if path is None:
        return "There is no graph to show: open a file with a model in it."
    if name is None:
        return "No model of this file has a graph yet."
    return f"There is no graph of {name}: {status_text(server.engine.snapshot, path, name)}"
