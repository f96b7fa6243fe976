"""Time from an edit to the new shape, with torch.export and torch.compile asked by the setting, and without it.

``python -m benchmarks.frontend_latency`` edits a file in one server, as ``benchmarks.latency`` does, and changes the
setting in turns, so that other work of the machine affects both, and no front end runs beside an edit that is measured
without them. It prints the ratios of the medians, with the setting to without it:

- edit after edit: the user never rests, so that no front end starts;
- the first edit after a rest, which comes while a front end runs and ends it.

It exits with 1 if a ratio is above the target.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.latency import PAUSE_SECONDS, RESNET, Classes, Sample, one_edit
from dev.editor import editor

EDITS = 40
RESTS = 10
REST_SECONDS = 3.5
"""Longer than the 2 s without an edit after which front ends are asked, and than the start of their process."""
TARGET = 1.05
_OFF = "[tool.fxlsp]\nfrontends = []\n"
_ON = '[tool.fxlsp]\nfrontends = ["export", "compile"]\n'
_POLL_SECONDS = 0.05


class Session:
    """Server with an open ResNet, whose setting is changed."""

    def __init__(self, classes: Classes, settings: Path) -> None:
        self._client = classes.client
        self._classes = classes
        self._settings = settings

    async def edit(self, is_asking: bool, rest: float) -> tuple[float, bool]:
        """Measure an edit some seconds after the setting was changed.

        Returns:
            The time in seconds, and whether the server was at work before: with a front end, since no trace ran.
        """
        await self.set(is_asking)
        await asyncio.sleep(rest)
        is_at_work = not await self._is_at_rest()
        return await one_edit(self._classes), is_at_work

    async def set(self, is_asking: bool) -> None:
        """Change the setting, of a server at rest."""
        await self._write(_OFF)
        await asyncio.wait_for(self._rest(), 120.0)
        if is_asking:
            await self._write(_ON)

    async def _rest(self) -> None:
        for _ in itertools.count():
            if await self._is_at_rest():
                return
            # It sends no message when it becomes idle without news.
            await asyncio.sleep(_POLL_SECONDS)

    async def verdicts(self) -> None:
        """Wait for the verdicts on the present text: later edits are not beside the first start of a front end."""
        await self.set(True)
        await self._client.until(self._verdicts, seconds=300.0)

    async def _verdicts(self) -> bool | None:
        titles = [lens["command"]["title"] for lens in await self._client.lenses(self._classes.uri)]
        return any("export: " in title and "compile: " in title for title in titles) or None

    async def _write(self, text: str) -> None:
        self._settings.write_text(text, encoding="utf-8")
        changes = [{"uri": self._settings.as_uri(), "type": 2}]
        self._client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    async def _is_at_rest(self) -> bool:
        params = {"command": "fxlsp.information", "arguments": []}
        return bool((await self._client.connection.request("workspace/executeCommand", params))["atRest"])


def main() -> int:
    description = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontend_latency", description=description)
    parser.add_argument("--edits", type=int, default=EDITS, metavar="N", help="with each setting, edit after edit")
    parser.add_argument("--rests", type=int, default=RESTS, metavar="N", help="with each setting, after a rest")
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as name:
        single, rested = asyncio.run(measure(Path(os.path.realpath(name)), arguments.edits, arguments.rests))
    print(f"\n{'':<44} {'median':>10} {'p95':>10} {'n':>5}")
    ratios = [_ratio("edit after edit", single), _ratio("first edit after a rest", rested)]
    running = [is_at_work for _, is_at_work in rested[True]]
    print(f"\na front end ran at {sum(running)} of {len(running)} edits after a rest")
    is_met = max(ratios) <= TARGET
    print(f"target: at most {TARGET:g} times as long with all front ends: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


Measured = dict[bool, list[tuple[float, bool]]]
"""Edits by whether front ends are asked: seconds, and whether one ran."""


async def measure(folder: Path, edits: int, rests: int) -> tuple[Measured, Measured]:
    """Measure edits without a rest before them, and edits after one, in an empty folder."""
    async with _session(folder) as session:
        await session.verdicts()
        single = await _in_turns(session, edits, PAUSE_SECONDS)
        return single, await _in_turns(session, rests, REST_SECONDS)


async def _in_turns(session: Session, count: int, rest: float) -> Measured:
    """Measure ``count`` edits with each setting, either first in every other pair; the first pair does not count."""
    measured: Measured = {False: [], True: []}
    for number in range(count + 1):
        for is_asking in (True, False) if number % 2 else (False, True):
            edit = await session.edit(is_asking, rest)
            if number:
                measured[is_asking].append(edit)
    return measured


@asynccontextmanager
async def _session(folder: Path) -> AsyncIterator[Session]:
    path, settings = folder / RESNET.name, folder / "pyproject.toml"
    path.write_bytes(RESNET.read_bytes())
    settings.write_text(_OFF, encoding="utf-8")
    async with editor(folder, log=subprocess.DEVNULL) as client:
        classes = Classes(client, client.open(path))
        await classes.visible()
        yield Session(classes, settings)


def _ratio(name: str, measured: Measured) -> float:
    """Print both samples, and return how many times longer the median is with front ends."""
    names = ((f"{name}, none asked", False), ("... all asked", True))
    without, asking = (Sample(title, [seconds for seconds, _ in measured[each]]) for title, each in names)
    ratio = asking.median / without.median
    print(without.line())
    print(f"{asking.line()} {ratio:>8.2f}x")
    return ratio


if __name__ == "__main__":
    sys.exit(main())
