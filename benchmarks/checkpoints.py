"""How much sooner an edit shows with a checkpoint after a file's imports.

It is compared with the same file where no checkpoint can be made. Measured as in :mod:`benchmarks.latency`, for a
ResNet-18 whose file imports a table that takes half a second to compute, and for one whose file imports 200 files. The
file without a checkpoint is the same but for a file that an import leaves open. Both are edited in turns; only the
ratios are meaningful.
"""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.latency import RESNET, Classes, Sample, one_edit
from dev.editor import editor

EDITS = 10
ROUNDS = 2
PAUSE_SECONDS = 1.0
"""Between edits: the next process gets ready."""

TABLE = """
import time

def compute():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    return [1]

value = compute()
"""
PART = "".join(f"class Part{each}:\n    def run(self, a, b=({each},)):\n        return a + b\n\n" for each in range(40))
MANY = {f"part{number}.py": PART for number in range(200)}
CASES: dict[str, Mapping[str, str]] = {
    "a table computed at import": {"imported.py": TABLE},
    "200 imported files": {
        **MANY,
        "imported.py": "".join(f"import part{number}\n" for number in range(200)) + "value = [1]\n",
    },
}


def main() -> int:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    print(f"\n{'from edit to shape':<44} {'median':>10} {'p95':>10} {'n':>5} {'times the held':>16}")
    for name, files in CASES.items():
        held, anew = asyncio.run(measure(files))
        print(Sample(f"{name}, held", held).line())
        anew_sample = Sample("... imported anew", anew)
        print(f"{anew_sample.line()} {anew_sample.median / Sample('', held).median:>15.1f}x")
    return 0


async def measure(files: Mapping[str, str]) -> tuple[list[float], list[float]]:
    """Return seconds of edits with a checkpoint, and without."""
    seconds: tuple[list[float], list[float]] = ([], [])
    async with AsyncExitStack() as stack:
        sessions = []
        for suffix in ("", "value.append(open(__file__))\n"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for name, text in files.items():
                (folder / name).write_text(text + (suffix if name == "imported.py" else ""), encoding="utf-8")
            path = folder / "resnet.py"
            path.write_text(f"from imported import value\n{RESNET.read_text(encoding='utf-8')}", encoding="utf-8")
            client = await stack.enter_async_context(editor(folder, log=subprocess.DEVNULL))
            sessions.append(Classes(client, client.open(path)))
            await sessions[-1].visible()
            await one_edit(sessions[-1])
        for _ in range(ROUNDS):
            for session, taken in zip(sessions, seconds, strict=True):
                for _ in range(EDITS // ROUNDS):
                    await asyncio.sleep(PAUSE_SECONDS)
                    taken.append(await one_edit(session))
    return seconds


if __name__ == "__main__":
    sys.exit(main())
