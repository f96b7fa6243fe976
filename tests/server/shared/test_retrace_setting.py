"""Edits are traced as they are typed, or when the file is saved, as the user has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client
from tests.support.settings_file import change_settings, write_settings

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x.repeat(1, 2)


class Other(nn.Module):
    def forward(self, x):
        return x.tile(3)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
    Other()(torch.randn(2, 3))
"""


def save(client: Client, buffer: Buffer) -> None:
    client.connection.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})


async def hints(client: Client, buffer: Buffer) -> list[str]:
    found = await client.hints(buffer)
    return [text for before, text in found.items() if before.startswith("return")]


@pytest.mark.parametrize("by_client", [False, True])
async def test_an_edit_waits_until_the_file_is_saved(start: Start, tmp_path: Path, by_client: bool) -> None:
    client = await start(Abilities(configuration=True))
    buffer = client.open(tmp_path / "net.py", NET)
    other = client.open(tmp_path / "other.py", NET)
    await client.until(lambda: hints(client, buffer), lambda texts: texts == ["(2, 6)", "(2, 9)"])
    if by_client:
        change_settings(client, retrace="save")
    else:
        write_settings(client, tmp_path, '[tool.fxlsp]\nretrace = "save"\n')
    await client.until(lambda: hints(client, other), lambda texts: texts == ["(2, 6)", "(2, 9)"])
    client.replace(buffer, "repeat(1, 2)", "repeat(1, 4)")
    # What is saved later is traced before, if the first edit is not traced at all.
    client.replace(other, "repeat(1, 2)", "repeat(1, 5)")
    save(client, other)
    await client.until(lambda: hints(client, other), lambda texts: texts == ["(2, 15)", "(2, 9)"])
    assert await hints(client, buffer) == ["(2, 6)", "(2, 9)"]
    client.replace(buffer, "repeat(1, 4)", "repeat(1, 7)")
    save(client, buffer)
    await client.until(lambda: hints(client, buffer), lambda texts: texts == ["(2, 21)", "(2, 9)"])


async def test_unsaved_edits_are_traced_once_the_setting_or_a_command_says_so(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(configuration=True), settings={"retrace": "save"})
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: hints(client, buffer), lambda texts: texts == ["(2, 6)", "(2, 9)"])
    client.replace(buffer, "repeat(1, 2)", "repeat(1, 4)")
    await client.command("fxlsp.retrace", buffer.uri)
    await client.until(lambda: hints(client, buffer), lambda texts: texts == ["(2, 12)", "(2, 9)"])
    client.replace(buffer, "tile(3)", "tile(5)")
    change_settings(client, retrace=None)
    await client.until(lambda: hints(client, buffer), lambda texts: texts == ["(2, 12)", "(2, 15)"])
