"""Nothing of a workspace runs before it is trusted; what syntax alone tells is there all the same."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start
from tests.support.client import Buffer, Client

NOT_TRUSTED = "not traced: trust this workspace first"

NET = """\
from pathlib import Path

import torch
from torch import nn

MARKER = Path(__file__).with_suffix(".ran").touch()


class Net(nn.Module):
    marker = Path(__file__).with_suffix(".ran").touch()

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        self.fc
        return self.fc(x)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""

SITE = "raise SystemExit('the workspace ran')\n"


async def opened(client: Client, folder: Path) -> Buffer:
    (folder / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    (folder / "torch.py").write_text(SITE, encoding="utf-8")
    return client.open(folder / "net.py", NET)


async def test_without_trust_nothing_runs_and_syntax_is_there(start: Start, tmp_path: Path) -> None:
    client = await start(trusted=False, environment={"FXLSP_TRUST": "0"})
    buffer = await opened(client, tmp_path)
    assert await client.lenses(buffer) == [("class Net(nn.Module):", NOT_TRUSTED)]
    (symbol,) = await client.ask("textDocument/documentSymbol", buffer)
    assert (symbol["name"], [child["name"] for child in symbol["children"]]) == ("Net", ["forward"])
    assert await client.hints(buffer) == {}
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 5)")
    assert await client.lenses(buffer) == [("class Net(nn.Module):", NOT_TRUSTED)]
    await client.stop()
    assert not (tmp_path / "net.ran").exists()


async def test_the_command_of_the_lens_gives_trust(start: Start, tmp_path: Path) -> None:
    client = await start(trusted=False)
    buffer = client.open(tmp_path / "net.py", NET.replace(".touch()", ""))
    (lens,) = await client.ask("textDocument/codeLens", buffer)
    command = lens["command"]
    params = {"command": command["command"], "arguments": command["arguments"]}
    await client.connection.request("workspace/executeCommand", params)
    hints = await client.until(lambda: client.hints(buffer), bool)
    assert hints["return self.fc(x)"] == "(2, 4)"


async def test_the_environment_gives_trust(start: Start, tmp_path: Path) -> None:
    client = await start(trusted=False, environment={"FXLSP_TRUST": "1"})
    buffer = client.open(tmp_path / "net.py", NET.replace(".touch()", ""))
    assert await client.until(lambda: client.hints(buffer), bool)
