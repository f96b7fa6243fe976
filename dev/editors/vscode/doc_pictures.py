"""Pictures of the documentation that need a project of their own, in VS Code.

``python -m dev.editors.vscode.doc_pictures PICTURES`` writes these, or those that ``--only`` names:

- ``vscode-guessed.png`` and ``vscode-recorded.png``: a model of which the name and the arguments are in a file that the
  program reads, so that no call in the text makes it, before and after a run of the program was recorded.
- ``vscode-frontends.png``: a model that ``torch.export`` takes with one batch, and ``torch.compile`` in two graphs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.editors.vscode.extension import build
from dev.editors.vscode.gallery import SETTINGS
from dev.editors.vscode.installation import installation
from dev.editors.vscode.tools import MissingError, Tools, tools
from dev.editors.vscode.user import User
from dev.editors.vscode.workbench import workbench
from dev.vsix import UNIVERSAL, pack

_MODEL = """\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.words, config.width)
        self.recur = nn.GRU(config.width, config.hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * config.hidden, config.tags)

    def forward(self, batch):
        x = self.embed(batch["words"])
        x, _ = self.recur(x)
        x = x * batch["mask"].unsqueeze(-1)
        return self.head(x).log_softmax(-1)
"""
_PROGRAM = """\
import json
from types import SimpleNamespace

import torch

import tagger

with open("config.json") as file:
    config = SimpleNamespace(**json.load(file))
model = getattr(tagger, config.model)(config)
words = torch.randint(config.words, (16, 40))
model({"words": words, "mask": words.gt(0).float()}).sum().backward()
"""
_CONFIG = {"model": "Tagger", "words": 8000, "width": 96, "hidden": 128, "tags": 17}
_SCORER = """\
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)
        self.register_buffer("weights", torch.tensor([[0.25], [0.75]]))

    def forward(self, x):
        h = self.body(x)
        print("features", h.shape)
        h = h * self.weights
        return self.head(h).softmax(-1)


if __name__ == "__main__":
    Scorer()(torch.randn(2, 16))
"""
_LENS = ".codelens-decoration a"
_EMPTY = (900, 640)
"""Point below the text, where the mouse shows nothing."""


async def take_pictures(found: Tools, package: Path, pictures: Path, scene: Scene) -> None:
    """Take the pictures of a scene.

    Raises:
        TimeoutError: the editor does not show what it should.
        RuntimeError: a program cannot be recorded.
        LeftoverError: processes outlived the editor.
    """
    settings = {**SETTINGS, "workbench.colorTheme": "Default Dark Modern", **scene.settings}
    with tempfile.TemporaryDirectory() as temporary, installation(found, settings) as installed:
        await installed.install(package)
        folder = Path(temporary) / "project"
        folder.mkdir()
        for name, text in scene.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        async with workbench(installed, folder) as bench:
            user = User(bench, pictures)
            await user.waits_for_the_editor()
            await user.opens(next(iter(scene.files)))
            # The lens is as wide as the window.
            await user.runs_command("View: Toggle Primary Side Bar Visibility")
            await user.tab.point(*_EMPTY)
            await scene.show(user, folder)


async def _show_recording(user: User, folder: Path) -> None:
    await user.sees(_LENS, "guess")
    await user.comes_to_rest()
    await user.picture("vscode-guessed")
    await _record(folder)
    await user.sees(_LENS, "recorded: train.py")
    await user.comes_to_rest()
    await user.picture("vscode-recorded")


async def _show_frontends(user: User, folder: Path) -> None:
    await user.runs_command("View: Toggle Problems")
    await user.tab.point(*_EMPTY)
    await user.sees(_LENS, "compile: 1 graph break")
    await user.comes_to_rest()
    await user.picture("vscode-frontends")


async def _record(folder: Path) -> None:
    command = [sys.executable, "-m", "fxlsp", "record", "-o", "fxlsp-recording.json", "--", sys.executable, "train.py"]
    process = await asyncio.create_subprocess_exec(*command, cwd=folder)
    if await process.wait() != 0:
        raise RuntimeError("the program could not be recorded")


@dataclass(frozen=True)
class Scene:
    """A project, opened in the editor, and what is shown there."""

    files: dict[str, str]
    """Texts by name; the first file is opened."""
    show: Callable[[User, Path], Awaitable[None]]
    """Takes the pictures; called with the folder of the project."""
    settings: dict[str, Any] = field(default_factory=dict)


_SCENES = {
    "recording": Scene(
        {"tagger.py": _MODEL, "train.py": _PROGRAM, "config.json": json.dumps(_CONFIG)}, _show_recording
    ),
    "frontends": Scene({"scorer.py": _SCORER}, _show_frontends, {"fxlsp.frontends": ["export", "compile"]}),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.editors.vscode.doc_pictures", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("pictures", type=Path, help="where the pictures are written")
    parser.add_argument("--only", choices=_SCENES, nargs="+", default=list(_SCENES), help="the scenes to show")
    arguments = parser.parse_args()
    try:
        found = tools()
    except MissingError as error:
        print(f"No pictures: {error}.", file=sys.stderr)
        return 1
    arguments.pictures.mkdir(parents=True, exist_ok=True)
    build(found.node, tests=False)
    package = pack(found.node, UNIVERSAL)
    for name in arguments.only:
        asyncio.run(take_pictures(found, package, arguments.pictures, _SCENES[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
