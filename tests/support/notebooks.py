"""Notebook in the test client; its cells are buffers of the client."""

from __future__ import annotations

from collections.abc import Sequence

from dev.rpc import Json
from tests.support.client import Buffer, Client

CODE, MARKUP = 2, 1


class Notebook:
    """Notebook document that is open until it is closed."""

    def __init__(self, client: Client, uri: str, texts: Sequence[str]) -> None:
        self.client = client
        self.uri = uri
        self.version = 1
        self._made = 0
        self.cells = [self._cell(text) for text in texts]
        document = {
            "uri": self.uri,
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [_kind(cell) for cell in self.cells],
        }
        items = [_item(cell) for cell in self.cells]
        client.connection.notify("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": items})

    def replace(self, cell: Buffer, old: str, new: str) -> None:
        """Replace the first ``old`` in a cell by ``new``."""
        start = cell.text.index(old)
        span = {
            "start": self.client.position(cell, start),
            "end": self.client.position(cell, start + len(old)),
        }
        cell.text = cell.text.replace(old, new, 1)
        cell.version += 1
        change = {"document": {"uri": cell.uri, "version": cell.version}, "changes": [{"range": span, "text": new}]}
        self._change({"textContent": [change]})

    def insert(self, index: int, text: str) -> Buffer:
        cell = self._cell(text)
        self.cells.insert(index, cell)
        array = {"start": index, "deleteCount": 0, "cells": [_kind(cell)]}
        self._change({"structure": {"array": array, "didOpen": [_item(cell)]}})
        return cell

    def delete(self, index: int) -> None:
        cell = self.cells.pop(index)
        array = {"start": index, "deleteCount": 1}
        self._change({"structure": {"array": array, "didClose": [{"uri": cell.uri}]}})

    def move_first_behind(self, index: int) -> None:
        """Move the first cell in one message, without opening or closing a cell."""
        moved = self.cells.pop(0)
        self.cells.insert(index, moved)
        cells = [_kind(cell) for cell in self.cells[: index + 1]]
        self._change({"structure": {"array": {"start": 0, "deleteCount": index + 1, "cells": cells}}})

    def turn(self, index: int, kind: int) -> None:
        """Change the kind of a cell: code or markup."""
        self._change({"data": [{"kind": kind, "document": self.cells[index].uri}]})

    def save(self) -> None:
        self.client.connection.notify("notebookDocument/didSave", {"notebookDocument": {"uri": self.uri}})

    def close(self) -> None:
        closed = [{"uri": cell.uri} for cell in self.cells]
        params = {"notebookDocument": {"uri": self.uri}, "cellTextDocuments": closed}
        self.client.connection.notify("notebookDocument/didClose", params)

    def _change(self, cells: Json) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.connection.notify(
            "notebookDocument/didChange", {"notebookDocument": document, "change": {"cells": cells}}
        )

    def _cell(self, text: str) -> Buffer:
        self._made += 1
        uri = f"vscode-notebook-cell:{self.uri.partition(':')[2]}#W{self._made}"
        buffer = Buffer(uri, text)
        self.client.buffers[uri] = buffer
        return buffer


def _kind(cell: Buffer) -> Json:
    return {"kind": CODE, "document": cell.uri}


def _item(cell: Buffer) -> Json:
    return {"uri": cell.uri, "languageId": "python", "version": cell.version, "text": cell.text}
