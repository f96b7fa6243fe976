"""Commands that return contents of a hover as text to copy.

These are shapes as a comment, and the table with all its rows. Each takes the URI of a document, and line and
character of a position in it, as the protocol counts them. The answer is ``{"text"}``, null where there is nothing.
No request reaches an editor's clipboard: the editor copies the text itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from fxlsp.ide.hover.hover import hover
from fxlsp.ide.hover.text import HoverText
from fxlsp.server.commands.ask_user import show_info, show_warning
from fxlsp.server.shared.command_names import COPY_COMMENT, COPY_TABLE
from fxlsp.server.shared.server import Server


def register(server: Server) -> None:
    @server.command(COPY_COMMENT)
    def copy_comment(ls: Server, *arguments: Any) -> dict[str, str] | None:
        found = _hover(ls, COPY_COMMENT, arguments)
        return None if found is None else _answer(ls, found.comment, "No shapes are known here.")

    @server.command(COPY_TABLE)
    def copy_table(ls: Server, *arguments: Any) -> dict[str, str] | None:
        found = _hover(ls, COPY_TABLE, arguments)
        table = None if found is None or found.table is None else found.table.markdown
        return None if found is None else _answer(ls, table, "The hover has no table here.")


def _answer(server: Server, text: str | None, nothing: str) -> dict[str, str] | None:
    if text is None:
        show_info(server, nothing)
        return None
    return {"text": text}


def _hover(server: Server, command: str, arguments: Sequence[Any]) -> HoverText | None:
    """Return the hover at the place of the arguments; show a message if there is none."""
    match arguments:
        case [str(uri), int(line), int(character), *_]:
            snapshot, text_document = server.find_text_document(uri)
        case _:
            show_warning(server, f"{command} takes the URI of a document, a line and a character, both from 0.")
            return None
    if text_document is None:
        show_warning(server, f"{command}: {uri} is not open.")
        return None
    found = hover(snapshot, text_document.path, *text_document.place(types.Position(line=line, character=character)))
    if found is None:
        show_info(server, "No shapes are known here.")
    return found
