"""Age of shapes while a person types without a pause: ``python -m benchmarks.typing [--seconds N]``.

ResNet-18 in the real server process. Two questions, for keys every 30 to 400 ms:

- the number of classes is edited, and then text is typed that leaves the program as it is, or changes it elsewhere:
  when does the new shape come?
- every key changes the number of classes: how long have the shown shapes been outdated?

All in multiples of one edit, measured alone in the same run. ``speed_check.py`` asks whether they got older.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from benchmarks.latency import MODELS, RESNET, Classes, one_edit
from benchmarks.nearest_rank import percentile_95
from dev.editor import Editor, editor

KEYS = (0.03, 0.08, 0.15, 0.4)
"""Seconds between keys."""
SINGLE_EDITS = 8
PAUSE_SECONDS = 0.5
_FOOT = "\n\nnumber = 1  # note\n"
"""Text below the models, for what is typed elsewhere."""


class Typist:
    """Keys that come at equal intervals until a time, and the tasks beside them."""

    def __init__(self, client: Editor, uri: str, interval: float, seconds: float) -> None:
        self.client = client
        self.uri = uri
        self._interval = interval
        self._seconds = seconds

    async def type(self, key: Callable[[], None]) -> None:
        """Press a key again and again."""
        ends = time.perf_counter() + self._seconds
        while time.perf_counter() < ends:
            key()
            await asyncio.sleep(self._interval)

    def in_comment(self) -> None:
        self._insert("# note", "e")

    def blank(self) -> None:
        """Type a blank at the end of a line of forward, or remove it."""
        line = "x = self.maxpool(x)"
        if f"{line} \n" in self.client.buffers[self.uri].text:
            self.client.replace(self.uri, f"{line} \n", f"{line}\n")
        else:
            self._insert(line, " ")

    def elsewhere(self) -> None:
        """Change the program, in another line than the models'."""
        text = self.client.buffers[self.uri].text
        now = text[text.index("\nnumber = ") :].split("\n")[1].split("  #")[0]
        self.client.replace(self.uri, now, "number = 1" if len(now) > 40 else f"{now}1")

    def _insert(self, after: str, new: str) -> None:
        offset = self.client.buffers[self.uri].text.index(after) + len(after)
        self.client.edit(self.uri, offset, offset, new)


async def until_shown(classes: Classes, typist: Typist, key: Callable[[], None]) -> float | None:
    """Edit the number of classes and type on; return the seconds until its shape is shown, None if it never is."""
    classes.client.refreshed.clear()
    began = time.perf_counter()
    classes.edit()
    typing = asyncio.create_task(typist.type(key))
    shown = asyncio.create_task(classes.visible())
    await asyncio.wait([typing, shown], return_when=asyncio.FIRST_COMPLETED)
    took = time.perf_counter() - began if shown.done() else None
    for task in (typing, shown):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    await classes.visible() if took is None else None
    return took


async def ages(classes: Classes, typist: Typist) -> list[float]:
    """Change the number of classes with each key; return the age of what is shown, each 20 ms, in seconds."""
    edited_at: dict[int, float] = {}
    measured: list[float] = []

    def key() -> None:
        classes.edit()
        edited_at[classes.shown] = time.perf_counter()

    async def look() -> None:
        shown = classes.shown
        while True:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(classes.client.refreshed.wait(), 0.02)
            classes.client.refreshed.clear()
            labels = str(await classes.client.hints(classes.uri))
            shown = max([shown, *(number for number in edited_at if f"(1, {number})" in labels)])
            newer = [at for number, at in edited_at.items() if number > shown]
            measured.append(time.perf_counter() - min(newer) if newer else 0.0)

    looking = asyncio.create_task(look())
    await typist.type(key)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    await classes.visible()
    return measured


async def measure(seconds: float, intervals: Sequence[float] = KEYS) -> float:
    """Print the table for keys at these intervals, in seconds; return the oldest age of a shape, in edits."""
    oldest = 0.0
    async with editor(MODELS, log=subprocess.DEVNULL) as client:
        uri = client.open(RESNET, RESNET.read_text(encoding="utf-8") + _FOOT)
        classes = Classes(client, uri)
        await classes.visible()
        single = []
        for _ in range(SINGLE_EDITS):
            single.append(await one_edit(classes))
            await asyncio.sleep(PAUSE_SECONDS)
        edit = statistics.median(single)
        print(f"one edit alone: {edit * 1000:.0f} ms in the median\n")
        print(f"{'keys every':>10} {'typed':<28} {'ms':>8} {'edits':>7}")
        for interval in intervals:
            typist = Typist(client, uri, interval, seconds)
            kinds = {"a comment": typist.in_comment, "blanks in forward": typist.blank, "a number": typist.elsewhere}
            for name, key in kinds.items():
                took = await until_shown(classes, typist, key)
                _print(interval, f"{name}, until shown", seconds if took is None else took, edit, took is None)
                oldest = max(oldest, (seconds if took is None else took) / edit)
                await asyncio.sleep(PAUSE_SECONDS)
            found = await ages(classes, typist)
            _print(interval, "the width, age 95 %", percentile_95(found), edit)
            _print(interval, "the width, oldest", max(found), edit)
            oldest = max(oldest, percentile_95(found) / edit)
            await asyncio.sleep(PAUSE_SECONDS)
    return oldest


def _print(interval: float, name: str, seconds: float, edit: float, never: bool = False) -> None:
    at_least = "> " if never else ""
    print(f"{interval * 1000:>7.0f} ms {name:<28} {at_least}{seconds * 1000:>6.0f} {seconds / edit:>7.1f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.typing", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=15.0, help="how long is typed (default: %(default)s)")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores", flush=True)
    oldest = asyncio.run(measure(options.seconds))
    print(f"\noldest: {oldest:.1f} edits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
