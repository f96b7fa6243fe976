"""How the session stands, for editors that show it."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Client

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


Net()(torch.randn(2, 3))
"""


async def statuses(client: Client) -> list[Json]:
    """Return all that were sent: a trace may begin and end before the next look."""
    return client.said("fxlsp/status")


async def status(client: Client) -> Json:
    """Return the last one; empty before the first."""
    return next(reversed(await statuses(client)), {})


async def test_an_editor_that_shows_it_gets_the_state_of_the_session(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(status=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: statuses(client), lambda told: any(each["tracing"] == ["Net"] for each in told))
    told = await client.until(lambda: status(client), lambda told: told["tracing"] == [])
    (interpreter,) = told["interpreters"]
    assert (interpreter["path"], interpreter["origin"]) == (sys.executable, "setting")
    assert (interpreter["torch"], interpreter["failure"]) == (torch.__version__, None)
    assert (told["trusted"], told["stale"]) == (True, [])
    client.replace(buffer, "nn.Linear(3, 4)", "nn.Linear(3, missing)")
    await client.until(lambda: status(client), lambda told: (told["tracing"], told["stale"]) == ([], ["Net"]))
    client.replace(buffer, "missing", "5")
    await client.until(lambda: status(client), lambda told: (told["tracing"], told["stale"]) == ([], []))


async def test_it_says_that_nothing_may_run_and_that_there_is_no_interpreter(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(status=True), trusted=False, options={"python": str(tmp_path / "none")})
    client.open(tmp_path / "net.py", NET)
    told = await client.until(lambda: status(client), lambda told: told.get("interpreters"))
    assert told["trusted"] is False
    assert "does not exist" in told["interpreters"][0]["failure"]


async def test_an_editor_that_does_not_ask_for_it_hears_nothing_of_it(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), len)
    assert client.said("fxlsp/status") == []
