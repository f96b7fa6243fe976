"""Time from an edit to the new shape, compared with a run of a script.

Measured from ``didChange`` to the reply of the hint request that the client sends after the server's refresh and that
shows the new shape; all waiting is included. The model is ResNet-18, the edit its number of classes. ``make bench``
prints everything in one run and exits with 1 if the targets are missed.

With ``--spawn`` it prints instead the times of edits where processes cannot be forked, with the forked way in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.nearest_rank import percentile_95
from dev.editor import Editor, editor
from dev.rpc import Json

MODELS = Path(__file__).resolve().parent / "models"
RESNET = MODELS / "resnet.py"
EDITS = 50
BURSTS = 10
EDITS_IN_BURST = 20
BURST_SECONDS = 2.0
SCRIPT_RUNS = 5
PAUSE_SECONDS = 0.3
"""Between measurements: no user edits the moment the last answer arrives."""

SPAWNED_ROUNDS = 2
SPAWNED_EDITS = 4
SPAWNED_REST_SECONDS = 8.0
"""In which a process imports torch and gets ready, on a slow machine too."""

TARGETS = (20.0, 10.0)
"""How many times faster than the script an edit must be: in the median, at the 95th percentile."""


@dataclass(frozen=True)
class Sample:
    """Measured times, in seconds."""

    name: str
    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return percentile_95(self.seconds)

    def line(self) -> str:
        return f"{self.name:<44} {_ms(self.median)} {_ms(self.p95)} {len(self.seconds):>5}"


class Classes:
    """The number of classes of an open ResNet, set by editing and read from the hints."""

    def __init__(self, client: Editor, uri: str) -> None:
        self.client = client
        self.uri = uri
        self._numbers = itertools.count(1000)
        self.shown = next(self._numbers)

    def edit(self) -> None:
        """Type the next number."""
        number = next(self._numbers)
        self.client.replace(self.uri, f"classes={self.shown})", f"classes={number})")
        self.shown = number

    async def visible(self) -> None:
        """Request hints after each refresh, until they show the number."""
        await asyncio.wait_for(self._visible(), 120.0)

    async def _visible(self) -> None:
        while True:
            await self.client.refreshed.wait()
            self.client.refreshed.clear()
            if any(f"(1, {self.shown})" in _label(hint) for hint in await self.client.hints(self.uri)):
                return


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__.partition("\n")[0])
    parser.add_argument("--spawn", action="store_true", help="compare processes that are started with forked ones")
    return main_spawned() if parser.parse_args().spawn else main_forked()


def main_spawned() -> int:
    """Print times of edits by spawned processes, and their ratio to forked ones."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    forked, rested, at_once = asyncio.run(measure_spawned())
    print(f"\n{'':<44} {'median':>10} {'p95':>10} {'n':>5} {'times the forked':>18}")
    for sample in (forked, rested, at_once):
        print(f"{sample.line()} {sample.median / forked.median:>17.1f}x")
    return 0


def main_forked() -> int:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    edits, script, lighter = asyncio.run(measure())
    made, traced = measure_in_process()
    print(f"\n{'':<44} {'median':>10} {'p95':>10} {'n':>5}")
    for sample in (*edits, script, lighter):
        print(sample.line())
    print(f"{'in process: making the model':<44} {_ms(made)}")
    print(f"{'in process: symbolic_trace':<44} {_ms(traced)}")
    for reference in (script, lighter):
        print(f"\ntimes faster than: {reference.name}")
        for sample in edits:
            median, p95 = ratios(sample, reference)
            print(f"{sample.name:<44} {median:>9.1f}x {p95:>9.1f}x")
    met = all(ratio >= target for ratio, target in zip(ratios(edits[0], script), TARGETS, strict=True))
    print(f"\ntarget for one edit: {TARGETS[0]:g}x and {TARGETS[1]:g}x the script: {'met' if met else 'MISSED'}")
    return 0 if met else 1


def ratios(sample: Sample, reference: Sample) -> tuple[float, float]:
    """Return how many times faster a sample is than the reference's median.

    In the median, and at the 95th percentile.
    """
    return reference.median / sample.median, reference.median / sample.p95


async def measure() -> tuple[list[Sample], Sample, Sample]:
    """Measure all edits, through one editor session, and both scripts, in turns.

    Other work of the machine then affects all of them.
    """
    script, lighter = (
        Script("fresh script (module_tracer.py, ShapeProp)"),
        Script("... without torchvision", "--own-file"),
    )
    await script.once()  # the first run reads torch from disk, and does not count
    single: list[float] = []
    async with editor(MODELS, log=subprocess.DEVNULL) as client:
        classes = Classes(client, client.open(RESNET))
        await classes.visible()
        for _ in range(SCRIPT_RUNS):
            single += (await sample("", EDITS // SCRIPT_RUNS, lambda: one_edit(classes))).seconds
            await script.run()
            await lighter.run()
        burst = await sample(f"last of {EDITS_IN_BURST} edits in {BURST_SECONDS:g} s", BURSTS, lambda: edits(classes))
        other = Other(client)
        await other.classes.visible()
        alone = await sample("the other model, alone", BURSTS, lambda: one_edit(other.classes))
        busy = await sample("one edit while another model traces", EDITS // 2, lambda: one_edit(classes, other.start))
    return [Sample("one edit", single), burst, busy, alone], script.sample, lighter.sample


async def measure_spawned() -> tuple[Sample, Sample, Sample]:
    """Measure edits in a forked and a spawned session in turns.

    Returns:
        Edits of the forked session; of the spawned one after a rest in which a process gets ready; and of the spawned
        one in direct succession.
    """
    forked, rested, at_once = Sample("forked", []), Sample("started ahead", []), Sample("... edit after edit", [])
    async with _session(spawn=False) as one, _session(spawn=True) as other:
        for _ in range(SPAWNED_ROUNDS):
            forked.seconds.extend((await sample("", SPAWNED_EDITS, lambda: one_edit(one))).seconds)
            for _ in range(SPAWNED_EDITS):
                await asyncio.sleep(SPAWNED_REST_SECONDS)
                rested.seconds.append(await one_edit(other))
            for _ in range(SPAWNED_EDITS):
                at_once.seconds.append(await one_edit(other))
    return forked, rested, at_once


@asynccontextmanager
async def _session(spawn: bool) -> AsyncIterator[Classes]:
    os.environ["FXLSP_SPAWN"] = "1" if spawn else ""
    async with editor(MODELS, log=subprocess.DEVNULL) as client:
        classes = Classes(client, client.open(RESNET))
        await classes.visible()
        yield classes


async def sample(name: str, count: int, measure: Callable[[], Awaitable[float]]) -> Sample:
    """Measure ``count`` times, after one time that does not count."""
    seconds = []
    for _ in range(count + 1):
        seconds.append(await measure())
        await asyncio.sleep(PAUSE_SECONDS)
    return Sample(name, seconds[1:])


async def one_edit(classes: Classes, before: Callable[[], Awaitable[None]] | None = None) -> float:
    if before is not None:
        await before()
    classes.client.refreshed.clear()
    began = time.perf_counter()
    classes.edit()
    await classes.visible()
    return time.perf_counter() - began


async def edits(classes: Classes) -> float:
    for _ in range(EDITS_IN_BURST - 1):
        classes.edit()
        await asyncio.sleep(BURST_SECONDS / (EDITS_IN_BURST - 1))
    return await one_edit(classes)


class Other:
    """A ResNet of some 700 nodes in a second document.

    Its trace is still under way when the edit comes.
    """

    def __init__(self, client: Editor) -> None:
        text = RESNET.read_text(encoding="utf-8").replace("(2, 2, 2, 2)", "(25, 25, 25, 25)")
        self.classes = Classes(client, client.open(MODELS / "deep_resnet.py", text))

    async def start(self) -> None:
        """Have it traced again, and wait until that runs."""
        self.classes.edit()
        await asyncio.sleep(0.1)


class Script:
    """Whole runs of a fresh interpreter."""

    def __init__(self, name: str, *options: str) -> None:
        self.sample = Sample(name, [])
        self._command = [sys.executable, "-m", "benchmarks.module_tracer", *options]

    async def once(self) -> None:
        process = await asyncio.create_subprocess_exec(*self._command, stdout=subprocess.DEVNULL)
        assert await process.wait() == 0

    async def run(self) -> None:
        began = time.perf_counter()
        await self.once()
        self.sample.seconds.append(time.perf_counter() - began)


def measure_in_process() -> tuple[float, float]:
    """Return the medians of building ResNet-18 for real and of tracing it.

    In seconds, where torch is imported already.
    """
    command = [sys.executable, "-m", "benchmarks.module_tracer", "--repeat", "20"]
    made, traced = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(made), float(traced)


def _label(hint: Json) -> str:
    label = hint["label"]
    return label if isinstance(label, str) else "".join(part["value"] for part in label)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:>7.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
