"""Times of a graph's page in Chromium: first picture, opening a box, moving.

Chromium is headless. The model is a ResNet of torchvision with 200 blocks, 2,017 nodes. ``python -m benchmarks.graph``
prints the figures and exits with 1 if the targets are missed. They count by the page's own clock: a first picture from
the start of the navigation to the frame after it is drawn, a box from the click to the frame after. It moves by 40
pixels a frame: as the page opens; with every box open; and that again with as much in the window as fits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.nearest_rank import percentile_95
from dev.editors.chromium import Tab, browser_tab, find_chromium

TARGET = "torchvision.models.resnet:ResNet"
RECIPE = ("--init", "ResNet(Bottleneck, [12, 36, 140, 12])", "--inputs", "torch.randn(1, 3, 224, 224)")
LOADS = 5
BOXES = 30
FRAMES = 180
PAUSE_SECONDS = 0.7
"""Between clicks: no user finds the next box sooner."""
FIRST_PICTURE_MS = 2000.0
BOX_MS = 150.0
FRAME_MS = 33.0

_DRAWN = """(async () => {
    const next = () => new Promise((done) => requestAnimationFrame(done));
    while (!document.documentElement.dataset.pictures) await next();
    await next();
    return performance.now();
})()"""
_OPEN = """(async () => {
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const boxes = [...document.querySelectorAll("#canvas .box .title")];
    if (boxes.length === 0) return null;
    const before = document.documentElement.dataset.pictures;
    const start = performance.now();
    boxes[%d %% boxes.length].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    while (document.documentElement.dataset.pictures === before) await next();
    await next();
    return performance.now() - start;
})()"""
_MOVE = """(async () => {
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const canvas = document.getElementById("canvas");
    const times = [];
    let last = await next();
    for (let frame = 0; frame < %d; frame++) {
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 40, cancelable: true }));
        const now = await next();
        times.push(now - last);
        last = now;
    }
    return times;
})()"""


@dataclass
class Figures:
    """Measured times, in milliseconds."""

    nodes: int = 0
    first: list[float] = field(default_factory=list)
    boxes: list[float] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    frames_all_open: list[float] = field(default_factory=list)
    frames_far_away: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    program = find_chromium()
    if program is None:
        print("There is no Chromium: python -m dev.editors.chromium installs it.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "graph.html"
        command = [sys.executable, "-m", "fxlsp", "graph", TARGET, *RECIPE, "--python", sys.executable]
        subprocess.run([*command, "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
        figures = asyncio.run(measured(program, page))
    if arguments.json:
        print(json.dumps(figures.__dict__))
    return print_figures(figures)


async def measured(program: str, page: Path) -> Figures:
    figures = Figures()
    async with browser_tab(program) as tab:
        for _ in range(LOADS):
            await tab.go(page.as_uri())
            figures.first.append(await tab.evaluate(_DRAWN))
        figures.nodes = await tab.evaluate("JSON.parse(document.getElementById('picture').textContent).nodes.length")
        figures.frames = await moved(tab)
        for number in range(BOXES):
            # With the whole graph in the window: some boxes are new, some deep inside boxes opened before.
            await tab.press("0")
            await asyncio.sleep(PAUSE_SECONDS)
            took = await tab.evaluate(_OPEN % (number * 7))
            if took is not None:
                figures.boxes.append(took)
        before = await tab.evaluate("document.documentElement.dataset.pictures")
        await tab.evaluate("document.getElementById('open-all').click()")
        await tab.until(f"document.documentElement.dataset.pictures > {before}", seconds=120)
        figures.frames_all_open = await moved(tab)
        await tab.press("0")
        figures.frames_far_away = await moved(tab)
    return figures


async def moved(tab: Tab) -> list[float]:
    times: list[float] = await tab.evaluate(_MOVE % FRAMES)
    return times


def print_figures(figures: Figures) -> int:
    """Print the figures beside the targets; return the exit code."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{figures.nodes} nodes, {platform.machine()}, {cores} cores, load {load:.1f}")
    rows = [
        ("first picture, slowest", max(figures.first), FIRST_PICTURE_MS, figures.first),
        ("box opens, 95th percentile", percentile_95(figures.boxes), BOX_MS, figures.boxes),
        ("frame while moving, 95th", percentile_95(figures.frames), FRAME_MS, figures.frames),
        ("with all boxes open", percentile_95(figures.frames_all_open), FRAME_MS, figures.frames_all_open),
        ("and as many as fit", percentile_95(figures.frames_far_away), FRAME_MS, figures.frames_far_away),
    ]
    for name, value, target, times in rows:
        middle = statistics.median(times)
        mark = "" if value <= target else "  MISSED"
        print(f"{name:28} {value:7.0f} ms  (median {middle:.0f}, of {len(times)}; target {target:.0f}){mark}")
    return int(any(value > target for _, value, target, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
