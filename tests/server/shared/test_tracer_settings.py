"""The tracer that the settings choose shows at once, whoever chooses it, and a wrong one is told where it is named."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client
from tests.support.settings_file import change_settings, write_settings

NET = """\
import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        y = x.relu()
        return y + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x).sum(1)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""
TRACERS = """\
import torch.fx


class Opaque(torch.fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return module_qualified_name == "block" or super().is_leaf_module(m, module_qualified_name)
"""
INSIDE, OUTSIDE = "y = x.relu()", "return self.block(x).sum(1)"


async def shows(client: Client, buffer: Buffer, *, inside: bool) -> None:
    """Waits until hints stand in the block, or only outside of it."""

    def is_so(hints: dict[str, str]) -> bool:
        return hints.get(OUTSIDE) == "(2,)" and (INSIDE in hints) == inside

    await client.until(lambda: client.hints(buffer), is_so)


async def test_a_tracer_of_pyproject_traces_and_a_wrong_one_is_reported_there(start: Start, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "mine.py").write_text(TRACERS)
    client = await start()
    buffer = client.open(tmp_path / "net.py")
    await shows(client, buffer, inside=True)
    write_settings(client, tmp_path, '[tool.fxlsp]\ntracer = "mine.py:Opaque"\n')
    await shows(client, buffer, inside=False)
    write_settings(client, tmp_path, '[tool.fxlsp]\ntracer = "mine.py:Opake"\n')
    uri = (tmp_path / "pyproject.toml").as_uri()

    async def told() -> list[tuple[str, int, int]]:
        return [
            (problem["code"], problem["range"]["start"]["line"], problem["range"]["start"]["character"])
            for problem in client.published.get(uri, [])
        ]

    assert await client.until(told, bool) == [("FX908", 1, 10)]
    assert not await client.problems(buffer)
    write_settings(client, tmp_path, '[tool.fxlsp]\nleafModules = ["net.Bl?ck"]\n')
    await client.until(told, lambda problems: not problems)
    await shows(client, buffer, inside=False)


async def test_the_editor_chooses_leaf_modules_and_wrapped_functions(start: Start, tmp_path: Path) -> None:
    half = "\n\ndef half(x):\n    return x / 2\n"
    (tmp_path / "net.py").write_text(NET.replace("y = x.relu()", "y = half(x)") + half)
    client = await start(Abilities(configuration=True), settings={"leafModules": ["*.Block"]})
    buffer = client.open(tmp_path / "net.py")
    await client.until(lambda: client.hints(buffer), lambda hints: OUTSIDE in hints and "y = half(x)" not in hints)
    change_settings(client, leafModules=None, wrap=["net:half"])
    hints = await client.until(lambda: client.hints(buffer), lambda hints: "y = half(x)" in hints)
    assert "return x / 2" not in hints
    change_settings(client, wrap=None)
    await client.until(lambda: client.hints(buffer), lambda hints: "return x / 2" in hints)


async def test_an_edit_of_the_tracer_traces_again(start: Start, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "mine.py").write_text(TRACERS)
    client = await start(options={"tracer": "mine.py:Opaque"})
    buffer = client.open(tmp_path / "net.py")
    await shows(client, buffer, inside=False)
    tracers = client.open(tmp_path / "mine.py")
    client.replace(tracers, '== "block"', '== "other"')
    await shows(client, buffer, inside=True)
