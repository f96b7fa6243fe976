"""Files that the settings exclude are left alone; an open one has what its syntax tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities
from tests.support.settings_file import change_settings, write_settings

PART = """\
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        return x.relu()
"""
WHOLE = """\
import torch
from torch import nn

from parts.part import Part


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x).sum(1)


if __name__ == "__main__":
    Whole()(torch.randn(2, 3))
"""
EXCLUDED = ("class Part(nn.Module):", "not traced: the settings exclude this file")


@pytest.mark.parametrize("by_client", [False, True])
async def test_an_excluded_file_is_not_traced_and_shows_nothing_of_other_traces(
    start: Start, tmp_path: Path, by_client: bool
) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/part.py").write_text(PART)
    (tmp_path / "whole.py").write_text(WHOLE)
    client = await start(Abilities(configuration=True))
    whole, part = client.open(tmp_path / "whole.py"), client.open(tmp_path / "parts/part.py")
    await client.until(lambda: client.hints(part), lambda hints: hints.get("return x.relu()") == "(2, 3)")

    if by_client:
        change_settings(client, exclude=["parts"])
    else:
        write_settings(client, tmp_path, '[tool.fxlsp]\nexclude = ["parts/**"]\n')
    await client.until(lambda: client.lenses(part), lambda lenses: lenses == [EXCLUDED])
    assert await client.hints(part) == {}
    (symbol,) = await client.ask("textDocument/documentSymbol", part)
    assert symbol["name"] == "Part"
    await client.until(lambda: client.hints(whole), lambda hints: hints.get("return self.part(x).sum(1)") == "(2,)")
    if by_client:
        change_settings(client, exclude=None)
    else:
        write_settings(client, tmp_path, "")
    await client.until(lambda: client.hints(part), lambda hints: hints.get("return x.relu()") == "(2, 3)")
