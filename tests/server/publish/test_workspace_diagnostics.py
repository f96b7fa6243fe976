"""The problems of files that are not open are told where the settings want them, and taken back when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities, Client
from tests.support.settings_file import change_settings, write_settings

NET = """\
import torch
from torch import nn

from helpers import limited


class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return limited(x)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""
HELPERS = """\
def limited(x):
    if x.max() > 1:
        return x / 2
    return x
"""
WHOLE = """\
import torch
from torch import nn

from net import Net


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x).relu()


if __name__ == "__main__":
    Whole()(torch.randn(4, 5))
"""
WORKSPACE = '[tool.fxlsp]\nproblems = "workspace"\nprofile = "fx"\n'


class Files:
    """Files of the workspace, as they are on disk and in the editor's list of problems."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("net.py", NET), ("helpers.py", HELPERS), ("whole.py", WHOLE), ("tool.py", "import os\n")):
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    async def problems(self, client: Client) -> dict[str, list[tuple[str, int]]]:
        """Code and line of each problem, by file."""
        return {
            uri.rpartition("/")[2]: [(each.get("code"), each["range"]["start"]["line"] + 1) for each in problems]
            for uri, problems in client.published.items()
            if problems
        }

    async def become(self, client: Client, expected: dict[str, list[tuple[str, int]]]) -> None:
        await client.until(lambda: self.problems(client), expected.__eq__)

    def changed(self, client: Client, name: str, kind: int) -> None:
        changes = [{"uri": (self.folder / name).as_uri(), "type": kind}]
        client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})


ALL = {"net.py": [("FX101", 9)], "helpers.py": [("FX101", 2)]}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize("pulls", [False, True])
async def test_problems_of_files_that_are_not_open_follow_the_files(start: Start, files: Files, pulls: bool) -> None:
    files.write("pyproject.toml", WORKSPACE)
    client = await start(Abilities(pulls=pulls))
    await files.become(client, ALL)
    files.write("net.py", f"# A remark moves them.\n{NET}")
    files.changed(client, "net.py", 2)
    await files.become(client, {**ALL, "net.py": [("FX101", 10)]})
    files.write("helpers.py", "def limited(x):\n    return x / 2\n")
    files.changed(client, "helpers.py", 2)
    await files.become(client, {"net.py": [("FX101", 10)]})
    (files.folder / "net.py").unlink()
    files.changed(client, "net.py", 3)
    await client.until(lambda: files.problems(client), lambda found: "net.py" not in found)


@pytest.mark.parametrize("by_client", [False, True])
async def test_they_come_and_go_with_the_setting(start: Start, files: Files, by_client: bool) -> None:
    client = await start(Abilities(configuration=True), settings={"profile": "fx"})
    client.open(files.folder / "tool.py")
    settings = [("workspace", [], ALL), ("open", [], {}), ("workspace", ["helpers.py"], {"net.py": ALL["net.py"]})]
    for problems, exclude, expected in settings:
        if by_client:
            change_settings(client, profile="fx", problems=problems, exclude=exclude or None)
        else:
            text = f'[tool.fxlsp]\nproblems = "{problems}"\nexclude = {exclude}\n'
            write_settings(client, files.folder, text)
        await files.become(client, expected)


@pytest.mark.parametrize("pulls", [False, True])
async def test_an_open_file_is_reported_as_it_is_in_the_editor(start: Start, files: Files, pulls: bool) -> None:
    files.write("pyproject.toml", WORKSPACE)
    client = await start(Abilities(pulls=pulls))
    await files.become(client, ALL)
    buffer = client.open(files.folder / "net.py")
    client.replace(buffer, "if x.sum() > 0:", "if self.training:")
    await files.become(client, {"helpers.py": ALL["helpers.py"]})
    client.close(buffer)
    await files.become(client, ALL)


async def test_nothing_of_files_that_are_not_open_is_reported_otherwise(start: Start, files: Files) -> None:
    client = await start(options={"profile": "fx"})
    whole = client.open(files.folder / "whole.py")
    await client.until(lambda: client.hints(whole), bool)
    assert await files.problems(client) == {}
