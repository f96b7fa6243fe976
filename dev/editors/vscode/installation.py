"""VS Code with the settings and extensions of one user, below a temporary folder."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.editors.vscode.leftovers import MARK
from dev.editors.vscode.tools import Tools

_SETTINGS: Mapping[str, Any] = {
    "editor.minimap.enabled": False,
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "always",
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "chat.disableAIFeatures": True,
}
"""They turn off what would move or ask during a test."""
_SWITCHES = ("disable-telemetry", "disable-update-check", "disable-getting-started-override", "ignore-last-opened")


@dataclass(frozen=True)
class Installation:
    """Programs and folders of one user. Use :func:`installation`."""

    tools: Tools
    home: Path
    mark: str
    """In the environment of every process that it starts."""

    @property
    def command(self) -> list[str]:
        options = {
            "config": self.home / "config.yaml",
            "user-data-dir": self.home / "data",
            "extensions-dir": self.home / "extensions",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [str(self.tools.node), str(self.tools.code_server), *words, *(f"--{name}" for name in _SWITCHES)]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of all its processes, with a home folder of its own."""
        found = {**os.environ, MARK: self.mark, "HOME": str(self.home)}
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            found[name] = str(self.home / name.lower())
        found.pop("PYTHONPATH", None)
        return found

    async def install(self, extension: Path) -> None:
        """Install a packed extension.

        Raises:
            RuntimeError: it cannot be installed; VS Code has printed the reason.
        """
        process = await asyncio.create_subprocess_exec(
            *(*self.command, "--install-extension", str(extension)), env=self.variables, stdout=sys.stderr
        )
        if await process.wait() != 0:
            raise RuntimeError(f"{extension} cannot be installed")

    def add(self, extensions: list[Path]) -> None:
        """Add extensions from their folders, before the first start."""
        listed = []
        for folder in extensions:
            manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
            name = f"{manifest['publisher']}.{manifest['name']}"
            target = shutil.copytree(folder, self.home / "extensions" / f"{name}-{manifest['version']}")
            location = {"$mid": 1, "scheme": "file", "path": str(target)}
            entry = {"identifier": {"id": name}, "version": manifest["version"], "location": location}
            listed.append({**entry, "relativeLocation": target.name})
        if listed:
            (self.home / "extensions" / "extensions.json").write_text(json.dumps(listed), encoding="utf-8")

    def put_on_path(self, folder: Path) -> None:
        """Make it the program ``code`` of a folder."""
        program = folder / "code"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(self.command)} "$@"\n', encoding="utf-8")
        program.chmod(0o755)


@contextmanager
def installation(tools: Tools, settings: Mapping[str, Any]) -> Iterator[Installation]:
    """Yield a new installation with some settings of the user's."""
    with tempfile.TemporaryDirectory(prefix="fxlsp-vscode-", ignore_cleanup_errors=True) as temporary:
        home = Path(temporary)
        (home / "config.yaml").write_text("cert: false\nauth: none\n", encoding="utf-8")
        # Settings that name programs of a machine are read from the second file alone.
        for kind in ("User", "Machine"):
            path = home / "data" / kind / "settings.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({**_SETTINGS, **settings}), encoding="utf-8")
        yield Installation(tools, home, uuid.uuid4().hex)
