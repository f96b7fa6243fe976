"""Pictures of a model in VS Code before and after a run of its program was recorded.

``python -m dev.editors.vscode.recording_pictures PICTURES`` opens a model of which the name and the arguments are in a
file that the program reads, so that no call in the text makes it, and writes ``vscode-guessed.png``. Then it records
the program, and writes ``vscode-recorded.png`` once the editor shows what was recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

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
_LENS = ".codelens-decoration a"
_EMPTY = (900, 640)
"""Point below the text, where the mouse shows nothing."""


async def take_pictures(found: Tools, package: Path, pictures: Path) -> None:
    """Take both pictures.

    Raises:
        TimeoutError: the editor does not show what it should.
        RuntimeError: the program cannot be recorded.
        LeftoverError: processes outlived the editor.
    """
    settings = {**SETTINGS, "workbench.colorTheme": "Default Dark Modern"}
    with tempfile.TemporaryDirectory() as temporary, installation(found, settings) as installed:
        await installed.install(package)
        folder = Path(temporary) / "tagger"
        folder.mkdir()
        (folder / "tagger.py").write_text(_MODEL, encoding="utf-8")
        (folder / "train.py").write_text(_PROGRAM, encoding="utf-8")
        (folder / "config.json").write_text(json.dumps(_CONFIG), encoding="utf-8")
        async with workbench(installed, folder) as bench:
            user = User(bench, pictures)
            await user.waits_for_the_editor()
            await user.opens("tagger.py")
            # The lens is as wide as the window.
            await user.runs_command("View: Toggle Primary Side Bar Visibility")
            await user.tab.point(*_EMPTY)
            await user.sees(_LENS, "guess")
            await user.comes_to_rest()
            await user.picture("vscode-guessed")
            await _record(folder)
            await user.sees(_LENS, "recorded: train.py")
            await user.comes_to_rest()
            await user.picture("vscode-recorded")


async def _record(folder: Path) -> None:
    command = [sys.executable, "-m", "fxlsp", "record", "-o", "fxlsp-recording.json", "--", sys.executable, "train.py"]
    process = await asyncio.create_subprocess_exec(*command, cwd=folder)
    if await process.wait() != 0:
        raise RuntimeError("the program could not be recorded")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.editors.vscode.recording_pictures", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("pictures", type=Path, help="where the pictures are written")
    arguments = parser.parse_args()
    try:
        found = tools()
    except MissingError as error:
        print(f"No pictures: {error}.", file=sys.stderr)
        return 1
    arguments.pictures.mkdir(parents=True, exist_ok=True)
    build(found.node, tests=False)
    asyncio.run(take_pictures(found, pack(found.node, UNIVERSAL), arguments.pictures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
