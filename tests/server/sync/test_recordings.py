"""Recordings that are made or changed while the server runs, with the real torch."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from fxlsp.recording.recording_file import NAME_IN_WORKSPACE, CallNote, RecordedInstance, merge_into
from tests.server.conftest import Start
from tests.support.client import Buffer, Client

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2)

    def forward(self, x):
        return self.linear(x)
"""
TRAIN = """\
import importlib
import torch

make = vars(importlib.import_module("net"))["Net"]
make(3)(torch.randn(4, 3))
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache folder for a project that has a model and a program."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "net.py").write_text(NET)
    (project / "train.py").write_text(TRAIN)
    return tmp_path / "cache"


async def started(start: Start, cache: Path) -> tuple[Client, Buffer]:
    """Return a client whose server has guessed how to make the model."""
    project = cache.parent / "project"
    client = await start(folders=[project], environment={"XDG_CACHE_HOME": str(cache)})
    buffer = client.open(project / "net.py")
    await shown(client, buffer, "guess")
    return client, buffer


async def shown(client: Client, buffer: Buffer, words: str) -> str:
    """Return the lens of the recipe once it has these words."""

    def found(lenses: list[tuple[str, str]]) -> list[str]:
        return [text for _, text in lenses if text.startswith("recipe: ") and words in text]

    return found(await client.until(lambda: client.lenses(buffer), found))[0]


async def record(project: Path, cache: Path) -> None:
    command = [sys.executable, "-m", "fxlsp", "record", "--", sys.executable, "train.py"]
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": root}
    process = await asyncio.create_subprocess_exec(*command, cwd=project, env=environment)
    assert await process.wait() == 0


async def test_a_program_that_is_recorded_meanwhile_gives_the_recipe(start: Start, cache: Path) -> None:
    client, buffer = await started(start, cache)
    await record(cache.parent / "project", cache)
    text = await shown(client, buffer, "recorded: train.py, ")
    assert text.startswith("recipe: Net(width=3)(torch.randn(4, 3)) · recorded: train.py, ")


async def test_a_recording_in_the_workspace_counts_as_soon_as_it_is_there_and_no_longer_than_it(
    start: Start, cache: Path
) -> None:
    client, buffer = await started(start, cache)
    file = cache.parent / "project" / NAME_IN_WORKSPACE
    for kind, rows in ((1, 5), (2, 6)):
        x = {"tensor": {"shape": [rows, 3], "dtype": "float32", "device": "cpu"}}
        calls = (CallNote((x,), {}, training=True),)
        init = {"args": [], "kwargs": {"width": 3}}
        note = RecordedInstance("net.py", "Net", "train.py", time.time(), init, calls)
        file.unlink(missing_ok=True)
        merge_into(str(file), [note], str(file.parent))
        tell(client, file, kind)
        await shown(client, buffer, f"torch.randn({rows}, 3)")
    file.unlink()
    tell(client, file, 3)
    await shown(client, buffer, "guess")


def tell(client: Client, file: Path, kind: int) -> None:
    """Report a file that was created, changed or deleted, as an editor does."""
    changes = [{"uri": file.as_uri(), "type": kind}]
    client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})


async def test_the_editor_is_asked_to_watch_recordings_of_the_workspace(start: Start, cache: Path) -> None:
    client, _ = await started(start, cache)
    asked = [params for method, params in client.heard if method == "client/registerCapability"]
    watched = [each for params in asked for each in params["registrations"] if "watchers" in each["registerOptions"]]
    patterns = [watcher["globPattern"] for each in watched for watcher in each["registerOptions"]["watchers"]]
    assert f"**/{NAME_IN_WORKSPACE}" in patterns


async def test_modules_are_found_from_the_folder_of_the_recorded_script(start: Start, cache: Path) -> None:
    project = cache.parent / "workspace"
    (project / ".git").mkdir(parents=True)
    (project / "code" / "models").mkdir(parents=True)
    net = project / "code" / "models" / "net.py"
    net.write_text("from models.sizes import OUTPUTS\n" + NET.replace("width, 2", "width, OUTPUTS"))
    net.with_name("sizes.py").write_text("OUTPUTS = 7\n")
    (project / "code" / "train.py").write_text(TRAIN.replace('"net"', '"models.net"'))
    await record(project / "code", cache)
    client = await start(folders=[project], environment={"XDG_CACHE_HOME": str(cache)})
    buffer = client.open(net)
    text = await shown(client, buffer, "recorded: code/train.py, ")
    assert text.startswith("recipe: Net(width=3)(torch.randn(4, 3)) · recorded: ")
    await client.until(lambda: client.hints(buffer), lambda hints: any("4, 7" in label for label in hints.values()))
