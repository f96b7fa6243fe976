"""On a system without descriptors, or that was suspended, the server answers and recovers."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities, Client
from tests.support.leftovers import processes
from tests.support.waiting import PATIENCE

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of other processes, /proc"),
]

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)
"""


def supervisor_of(client: Client, mark: str) -> int:
    """Return the process that starts traces: the server's child that lives on."""
    for pid in processes(mark):
        try:
            parent = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == client.connection.pid:
            return pid
    raise AssertionError("there is no supervisor")


async def test_a_server_without_descriptors_answers_and_recovers(start: Start, tmp_path: Path, mark: str) -> None:
    client = await start(Abilities(pulls=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    pid = client.connection.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, before[1]))
    # With its supervisor it has all that it needs; without, it cannot start another.
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 5)")
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("return self.fc(x)") == "(2, 5)")
    os.kill(supervisor_of(client, mark), signal.SIGKILL)
    other = client.open(tmp_path / "other.py", NET)
    client.replace(buffer, "Linear(3, 5)", "Linear(3, 6)")

    async def messages() -> list[str]:
        await client.lenses(buffer)
        return [params["message"] for method, params in client.heard if method == "window/showMessage"]

    said = await client.until(messages, bool)
    assert "Too many open files. The system has no resources left for it: close programs" in said[0]

    async def titles() -> list[str]:
        return [title for _, title in await client.lenses(buffer)]

    # The last shapes stay.
    await client.until(titles, lambda titles: any("the last trace failed" in title for title in titles))
    for name in ("documentSymbol", "diagnostic", "codeLens", "inlayHint"):
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        await client.ask(f"textDocument/{name}", other, **({"range": whole} if name == "inlayHint" else {}))
    await client.connection.request("workspace/symbol", {"query": "Net"})
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    await client.command("fxlsp.restart")
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("return self.fc(x)") == "(2, 6)")
    assert await client.stop() == 0


@pytest.mark.parametrize("which", ["supervisor", "server"])
async def test_a_process_that_was_suspended_goes_on(which: str, start: Start, tmp_path: Path, mark: str) -> None:
    client = await start(options={"limits": {"seconds": 6}})
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    pid = client.connection.pid if which == "server" else supervisor_of(client, mark)
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 5)")
    os.kill(pid, signal.SIGSTOP)
    # Longer than the limit of a trace, shorter than the server waits for a supervisor that does not answer.
    await asyncio.sleep(8)
    os.kill(pid, signal.SIGCONT)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("return self.fc(x)") == "(2, 5)")
    client.replace(buffer, "Linear(3, 5)", "Linear(3, 6)")
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("return self.fc(x)") == "(2, 6)")
    assert len(processes(mark)) < 8


async def test_an_editor_that_never_reads_does_not_fill_the_memory(start: Start, tmp_path: Path) -> None:
    client = await start(trusted=False)
    one = "class Net{0}(nn.Module):\n    def forward(self, x): return x\n\n\n"
    buffer = client.open(tmp_path / "many.py", "from torch import nn\n" + "".join(map(one.format, range(1000))))
    # Several at once, since to make answers takes memory too, which the allocator keeps.
    several = (client.ask("textDocument/documentSymbol", buffer) for _ in range(12))
    symbols = (await asyncio.gather(*several))[0]
    megabytes = len(json.dumps(symbols)) / 2**20
    pid = client.connection.pid
    before = resident_megabytes(pid)
    client.connection.pause_reading()
    # The last answer waits for all others, which wait for the editor to read again.
    question = {"textDocument": {"uri": buffer.uri}}
    asked = [
        asyncio.create_task(client.connection.request("textDocument/documentSymbol", question, limit=4 * PATIENCE))
        for _ in range(100)
    ]
    used, idle = processor_seconds(pid), 0
    while idle < 3:
        await asyncio.sleep(0.5)
        now = processor_seconds(pid)
        idle, used = idle + 1 if now - used < 0.05 else 0, now
    grown = resident_megabytes(pid) - before
    client.connection.resume_reading()
    answers = await asyncio.gather(*asked)
    assert all(answer == symbols for answer in answers)
    # Of all answers only some are made; the rest is what making them takes.
    assert grown < 100 * megabytes * 0.7


def resident_megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
