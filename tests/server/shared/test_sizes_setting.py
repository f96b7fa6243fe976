"""The sizes of guessed inputs are the user's choice, and count at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities
from tests.support.settings_file import change_settings, write_settings

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return self.conv(x)
"""
LINE = "return self.conv(x)"


@pytest.mark.parametrize("by_client", [False, True])
async def test_guessed_inputs_follow_the_setting(start: Start, tmp_path: Path, by_client: bool) -> None:
    client = await start(Abilities(configuration=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == "~(2, 4, 64, 64)")
    for batch, image in ((3, 128), (3, 32)):
        if by_client:
            change_settings(client, sizes={"batch": batch, "image": image, "sequence": None})
        else:
            write_settings(client, tmp_path, f"[tool.fxlsp.sizes]\nbatch = {batch}\nimage = {image}\n")
        lines = {"def forward(self, x": f"~({batch}, 3, {image}, {image})", LINE: f"~({batch}, 4, {image}, {image})"}
        await client.until(lambda: client.hints(buffer), lines.__eq__)
