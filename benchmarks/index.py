"""How long it takes to know what a large workspace offers: cold, from the cache, and after an edit of a file.

    python -m benchmarks.index

The workspace is made of copies of files that are installed: 2,000, of 100 MB in all where there are that many large
ones, of which 15 % pass the byte filter. A hover on a traced model is asked for over and over while a server reads it,
and while nothing is read. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TypeVar

from dev.editor import Editor, editor
from fxlsp.engine.index import Index
from fxlsp.engine.indexing import file_offers, read_index
from fxlsp.source.offers import may_offer

T = TypeVar("T")

FILES = 2000
PASSING = 0.15
EDITED_BYTES = 60_000
"""About the size of the file that is edited."""
TARGETS = {"cold": 10.0, "warm": 1.0, "edit": 0.02}
"""Seconds."""
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x.relu()


Net()(torch.randn(2, 3))
"""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fxlsp-index-") as temporary:
        folder = Path(temporary) / "workspace"
        os.environ["XDG_CACHE_HOME"] = str(Path(temporary) / "cache")
        passing, size = _make(folder)
        print(f"{FILES} files, {size / 1e6:.0f} MB, {passing} pass the byte filter")
        index, cold = _timed(lambda: read_index([str(folder)]))
        _, warm = _timed(lambda: read_index([str(folder)]))
        edited = _edited(folder)
        path = str(edited)
        edit = median(_timed(lambda: _reread(index, path))[1] for _ in range(9))
        for name, seconds in (("cold", cold), ("warm", warm), ("edit", edit)):
            print(f"{name:<5} {seconds:8.3f} s of processor time   target {TARGETS[name]} s")
        print(f"      an edit of a file of {edited.stat().st_size / 1000:.0f} KB")
        (Path(temporary) / "cache").rename(Path(temporary) / "cache-before")
        asyncio.run(_hovers(folder))
    return 0 if all(took <= TARGETS[name] for name, took in (("cold", cold), ("warm", warm), ("edit", edit))) else 1


def _make(folder: Path) -> tuple[int, int]:
    """Copies files into the folder; how many pass the filter, and the bytes of all."""
    installed = [path for path in Path(sysconfig.get_paths()["purelib"]).rglob("*.py") if path.is_file()]
    for entry in sys.path:
        if entry.endswith("site-packages"):
            installed += [path for path in Path(entry).rglob("*.py") if path.is_file()]
    largest = sorted(set(installed), key=lambda path: path.stat().st_size, reverse=True)
    wanted = {True: round(PASSING * FILES), False: FILES - round(PASSING * FILES)}
    size = 0
    for number, (path, passes) in enumerate(_chosen(largest, wanted)):
        data = path.read_bytes()
        target = folder / f"package{number % 40}" / f"module{number}{'_models' if passes else ''}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        size += len(data)
    return round(PASSING * FILES), size


def _chosen(paths: list[Path], wanted: dict[bool, int]) -> Iterator[tuple[Path, bool]]:
    for path in paths:
        passes = may_offer(path.read_bytes())
        if wanted[passes] and path.stat().st_size < 2_000_000:
            wanted[passes] -= 1
            yield path, passes


def _edited(folder: Path) -> Path:
    """A file that passes the filter, of about the size that is wanted."""
    return min(folder.rglob("*_models.py"), key=lambda path: abs(path.stat().st_size - EDITED_BYTES))


def _reread(index: Index, path: str) -> Index:
    for name, offers in file_offers(path).items():
        index = index.with_file(name, offers)
    return index


def _timed(act: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds of processor time that it took."""
    began = time.process_time()
    result = act()
    return result, time.process_time() - began


async def _hovers(folder: Path) -> None:
    """How long a hover takes while the workspace is read by a server, and after that."""
    async with editor(folder) as client:
        uri = client.open(folder / "net.py", NET)
        line = NET[: NET.index("x.relu")].count("\n")
        during = [await _hover(client, uri, line) async for _ in _while_reading(client)]
        after = [await _hover(client, uri, line) for _ in range(100)]
    for name, times in (("while it is read", during), ("at rest", after)):
        print(f"hover {name:<18} median {median(times):6.1f} ms, 95 % {_p95(times):6.1f} ms, {len(times)} times")


async def _while_reading(client: Editor) -> AsyncIterator[None]:
    params = {"command": "fxlsp.information", "arguments": []}
    while not (await client.connection.request("workspace/executeCommand", params))["atRest"]:
        yield
        await asyncio.sleep(0.02)


async def _hover(client: Editor, uri: str, line: int) -> float:
    began = time.perf_counter()
    await client.hover(uri, line, 16)
    return 1000 * (time.perf_counter() - began)


def _p95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]


if __name__ == "__main__":
    sys.exit(main())
