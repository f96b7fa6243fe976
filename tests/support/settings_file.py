"""Changes of settings: in the ``pyproject.toml`` of a folder, and in the editor."""

from __future__ import annotations

from pathlib import Path

from tests.support.client import Client


def write_settings(client: Client, folder: Path, text: str) -> None:
    """Write ``pyproject.toml`` and notify the server, as a watching editor does."""
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    changes = [{"uri": path.as_uri(), "type": 2}]
    client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})


def change_settings(client: Client, **settings: object) -> None:
    """Change the settings of the editor."""
    client.settings = settings
    client.connection.notify("workspace/didChangeConfiguration", {"settings": None})
