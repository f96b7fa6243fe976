"""Time from an edit of a published model file to what it changes on the screen.

    python -m benchmarks.published_files [--packages FOLDER] [--repository OWNER/NAME=FOLDER] [--only TEXT] [--edits N]

Measured from ``didChange`` to the reply of the hint request in which the effect of the edit is visible; all waiting is
included. Each edit (``published_edits.py``) is made and taken back in turns. The package of the file is copied, since
the user of a published file works in its repository. A line that torch.fx cannot trace is typed and saved, and measured
until the problem is published.

Beside it, in the same run: the bare cost of the work, which is fork, construction, plain trace and run on fake inputs
of the same model by a script (``bare_trace.py``), and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.nearest_rank import percentile_95
from benchmarks.published_edits import PUBLISHED, PublishedEdit, PublishedFile
from dev.editor import Editor, editor
from dev.rpc import Json

REFUSED = "if {name}.sum() > 0:\n            pass\n        "
"""What is typed before the line that shows an edit."""
PAUSE_SECONDS = 2.0
"""Between measurements: a graph is shown before its trace ends, and the next edit is to find none that still runs."""
FIRST_SECONDS = 180.0
EDIT_SECONDS = 60.0


@dataclass
class Measured:
    """Seconds of the edits of one file, by kind."""

    file: PublishedFile
    bare: float = 0.0
    """Seconds of fork, construction, trace and fake run, by a script."""
    first: float = 0.0
    edits: dict[str, list[float]] = field(default_factory=dict)
    underlined: list[float] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        everything = [seconds for each in self.edits.values() for seconds in each]
        if not everything:
            yield f"{self.file.name}: nothing was measured"
            return
        yield (
            f"{self.file.name:<45} {_ms(statistics.median(everything))} {_ms(percentile_95(everything))}"
            f" {len(everything):>4}   bare {_ms(self.bare)}, {statistics.median(everything) / self.bare:.1f} times it;"
            f" first {self.first:.1f} s"
        )
        for kind, seconds in self.edits.items():
            yield f"    {kind:<41} {_ms(statistics.median(seconds))} {_ms(percentile_95(seconds))} {len(seconds):>4}"
        if self.underlined:
            yield (
                f"    {'untraceable line, until underlined':<41} {_ms(statistics.median(self.underlined))}"
                f" {_ms(percentile_95(self.underlined))} {len(self.underlined):>4}"
            )


def main() -> int:
    options = _options()
    missing = 0
    print(f"{'':<45} {'median':>10} {'p95':>10}    n")
    for file in PUBLISHED:
        if not any(text in file.name for text in options.only):
            continue
        source = _folder_of(file, options)
        if source is None:
            print(f"{file.name}: {file.package} is not there")
            missing += 1
            continue
        with _workspace(source, file) as path:
            measured = asyncio.run(_measure(file, path, options.edits))
            measured.bare = _bare(path, file)
        print(*measured.lines(), sep="\n", flush=True)
    return int(missing > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.published_files", description=__doc__.partition("\n")[0])
    parser.add_argument("--packages", metavar="FOLDER", default="", help="folder with installed packages")
    parser.add_argument("--repository", nargs="*", default=[], metavar="OWNER/NAME=FOLDER")
    parser.add_argument("--only", nargs="*", default=[""], metavar="TEXT", help="files whose name has one of these")
    parser.add_argument("--edits", type=int, default=10, help="how often each edit is made and taken back")
    options = parser.parse_args()
    if options.packages:
        sys.path.append(options.packages)
    return options


def _folder_of(file: PublishedFile, options: argparse.Namespace) -> Path | None:
    """Return the folder of a package or repository; None if it is not there."""
    if "/" in file.package:
        folders = dict(each.split("=", 1) for each in options.repository)
        return Path(folders[file.package]) if file.package in folders else None
    spec = importlib.util.find_spec(file.package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@contextmanager
def _workspace(source: Path, file: PublishedFile) -> Iterator[Path]:
    """Copy the package of a file to a workspace; yield the path of the file."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        copy = root / source.name
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".git"))
        (root / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\n')
        path = copy / file.path
        if file.recipe:
            text = path.read_text(encoding="utf-8")
            start = text.index(f"class {file.model}(")
            while text[:start].rstrip(" ").endswith("\n") and text[:start].rstrip("\n").rpartition("\n")[2][:1] == "@":
                start = text[:start].rstrip("\n").rindex("\n") + 1
            path.write_text(text[:start] + file.recipe + text[start:], encoding="utf-8")
        yield path


async def _measure(file: PublishedFile, path: Path, count: int) -> Measured:
    measured = Measured(file)
    folder = path.parents[len(Path(file.path).parts)]
    async with editor(folder, log=subprocess.DEVNULL) as client:
        began = time.perf_counter()
        opened = OpenFile(client, client.open(path))
        await asyncio.wait_for(opened.until(bool, file.edits[0].changes), FIRST_SECONDS)
        measured.first = time.perf_counter() - began
        await asyncio.sleep(3.0)
        for edit in file.edits:
            seconds = measured.edits.setdefault(edit.kind, [])
            for number in range(count + 1):
                both = [await opened.edited(edit, edit.old, edit.new), await opened.edited(edit, edit.new, edit.old)]
                seconds += both if number else []
        for number in range(count // 2 + 1):
            once = await opened.underlined(file.edits[0])
            measured.underlined += [once] if number else []
    return measured


class OpenFile:
    """Open document whose hints are watched."""

    def __init__(self, client: Editor, uri: str) -> None:
        self._client = client
        self._uri = uri

    async def edited(self, edit: PublishedEdit, old: str, new: str) -> float:
        """Return the seconds from an edit until the hint of a line differs."""
        await asyncio.sleep(PAUSE_SECONDS)
        before = await self._labels(edit.changes)
        self._client.refreshed.clear()
        began = time.perf_counter()
        self._client.replace(self._uri, old, new)
        await asyncio.wait_for(self.until(lambda labels: bool(labels) and labels != before, edit.changes), EDIT_SECONDS)
        return time.perf_counter() - began

    async def underlined(self, edit: PublishedEdit) -> float:
        """Return the seconds from a line that cannot be traced until its problem is published, and remove the line."""
        line = edit.changes.partition("\n")[0]
        value = line.partition("(")[2].partition(")")[0].partition(",")[0]
        typed = REFUSED.format(name=value)
        start = self._start_of(edit.changes)
        began = time.perf_counter()
        self._client.edit(self._uri, start, start, typed)
        self._client.save(self._uri)
        await self._client.until(lambda: self._problem_in(typed), EDIT_SECONDS)
        seconds = time.perf_counter() - began
        self._client.edit(self._uri, start, start + len(typed), "")
        self._client.save(self._uri)
        await asyncio.sleep(2.0)
        return seconds

    async def until(self, is_reached: Callable[[list[str]], bool], line: str) -> None:
        """Request hints after each refresh until those of a line are as they should be."""
        while not is_reached(await self._labels(line)):
            await self._client.refreshed.wait()
            self._client.refreshed.clear()

    def _start_of(self, line: str) -> int:
        return self._client.buffers[self._uri].text.index(line)

    async def _problem_in(self, typed: str) -> bool | None:
        buffer = self._client.buffers[self._uri]
        first = buffer.text[: buffer.text.index(typed)].count("\n")
        problems = (problem for problem in buffer.problems if problem["range"]["start"]["line"] == first)
        return any(str(problem.get("code")).startswith("FX1") for problem in problems) or None

    async def _labels(self, line: str) -> list[str]:
        text = self._client.buffers[self._uri].text
        number = text[: text.index(line)].count("\n")
        hints = await self._client.hints(self._uri)
        return [_label(hint) for hint in hints if hint["position"]["line"] == number]


def _bare(path: Path, file: PublishedFile) -> float:
    """Return the seconds of the bare work, in the median."""
    target = f"{path}:{file.model}"
    command = [sys.executable, "-m", "benchmarks.bare_trace", target]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(answer.stdout.split()[-1]) if answer.returncode == 0 else float("nan")


def _label(hint: Json) -> str:
    label = hint["label"]
    return label if isinstance(label, str) else "".join(part["value"] for part in label)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:>7.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
