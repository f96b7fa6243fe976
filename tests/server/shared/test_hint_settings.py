"""Which hints are shown is the user's choice, by kind, and counts at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities
from tests.support.settings_file import change_settings, write_settings

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        best = x.argmax(1)
        return x.relu().sum(1)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""
ARGUMENT, DTYPE, SHAPE = "def forward(self, x", "best = x.argmax(1)", "return x.relu().sum(1)"
ALL = {ARGUMENT: "(2, 3)", DTYPE: "(2,) int64", SHAPE: "(2,)"}
CHOICES: list[tuple[str, dict[str, object], dict[str, str]]] = [
    ("hints = false", {"hints": False}, {}),
    ("hints.arguments = false", {"hints": {"arguments": False}}, {DTYPE: "(2,) int64", SHAPE: "(2,)"}),
    ("hints.shapes = false", {"hints": {"shapes": False, "dtypes": None}}, {ARGUMENT: "(2, 3)"}),
    ("hints.dtypes = false", {"hints": {"dtypes": False}}, {**ALL, DTYPE: "(2,)"}),
    (
        'hints.sizes = "symbolic"',
        {"hints": {"sizes": "symbolic", "dtypes": None}},
        {ARGUMENT: "(B, N)", DTYPE: "(B,) int64", SHAPE: "(B,)"},
    ),
]


@pytest.mark.parametrize("by_client", [False, True])
async def test_hints_are_of_the_kinds_that_are_wanted(start: Start, tmp_path: Path, by_client: bool) -> None:
    client = await start(Abilities(configuration=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints == ALL)
    for text, settings, expected in CHOICES:
        if by_client:
            change_settings(client, **settings)
        else:
            write_settings(client, tmp_path, f"[tool.fxlsp]\n{text}\n")
        await client.until(lambda: client.hints(buffer), expected.__eq__)


async def test_settings_and_options_of_the_editor_are_merged_key_by_key_in_tables_too(
    start: Start, tmp_path: Path
) -> None:
    client = await start(
        Abilities(configuration=True),
        options={"hints": {"arguments": False}},
        settings={"hints": {"arguments": None, "dtypes": False}, "limits": None},
    )
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints == {DTYPE: "(2,)", SHAPE: "(2,)"})


async def test_each_folder_has_its_own_settings(start: Start, tmp_path: Path) -> None:
    first, second = tmp_path, tmp_path.with_name(f"{tmp_path.name}_second")
    second.mkdir()
    client = await start(Abilities(configuration=True), settings={"hints": {"arguments": False}})
    buffer = client.open(first / "net.py", NET)
    other = client.open(second / "net.py", NET)
    lines = {DTYPE: ALL[DTYPE], SHAPE: ALL[SHAPE]}
    await client.until(lambda: client.hints(buffer), lines.__eq__)
    client.folder_settings = {second.as_uri(): {"hints": {"dtypes": False}}}
    event = {"added": [{"uri": second.as_uri(), "name": second.name}], "removed": []}
    client.connection.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    await client.until(lambda: client.hints(other), {**ALL, DTYPE: "(2,)"}.__eq__)
    await client.until(lambda: client.hints(buffer), lines.__eq__)
