"""What is reported of thirty certain failures, whatever the model is fed by, as a golden table.

A failure that no inputs mend has one code, one severity and one line, where a call site, a comment or a guess feeds the
model, and in a server that is started anew. ``FXLSP_WRITE_SCENARIOS=1`` rewrites the table; read the diff.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.certain_failures import DIFFERENCES, FAILURES, CertainFailure
from tests.support.client import Client
from tests.support.fork_server import MARK
from tests.support.warm import fxlsp

TABLE = Path(__file__).with_name("certain_failures.txt")
WRITES = "FXLSP_WRITE_SCENARIOS" in os.environ
COLUMNS = ("call site", "comment", "guess", "restart")
EQUAL = "equal"
OPTIONS = {"limits": {"seconds": 60}, "profile": "fx"}
"""As on the command line."""
_AT_ONCE = 3
"""Files whose traces a server may take :data:`PATIENCE` for."""
SEVERITIES = ("error", "warning", "info", "hint")
NOT_SHOWN = ("info", "hint")
"""Severities of what counts in the line of the failure only."""


class Reported(NamedTuple):
    """A problem as the table has it."""

    line: int
    code: str
    severity: str

    def __str__(self) -> str:
        return f"{self.line} {self.code} {self.severity}"


Cells = Mapping[str, str]
"""What is reported of each failure, by its name."""


@pytest.mark.timeout(900)
async def test_a_certain_failure_is_the_same_whatever_feeds_the_model(start: Start, tmp_path: Path, mark: str) -> None:
    answers = (*await checked(tmp_path / "stated", mark), *await restarted(start, tmp_path / "none"))
    columns = dict(zip(COLUMNS, answers, strict=True))
    rows = [[columns[column][failure.name] for column in COLUMNS] for failure in FAILURES]
    differing = [failure.name for failure, row in zip(FAILURES, rows, strict=True) if len(set(row)) > 1]
    text = table(rows)
    if WRITES:
        TABLE.write_text(text, encoding="utf-8")
    assert text == TABLE.read_text(encoding="utf-8")
    assert differing == [failure.name for failure in FAILURES if failure.name in DIFFERENCES]


async def checked(folder: Path, mark: str) -> tuple[Cells, Cells]:
    """Return what one ``fxlsp check`` reports where a call site, and where a comment feeds the models."""
    for failure in FAILURES:
        write(folder / "call site", failure, failure.called)
        write(folder / "comment", failure, failure.commented)
    process = await asyncio.create_subprocess_exec(
        *fxlsp(), "check", str(folder), "--format", "json", "--jobs", "1",
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, MARK: mark},
    )  # fmt: skip
    out, _ = await process.communicate()
    problems: Json = json.loads(out)["problems"]

    def cells(column: str) -> Cells:
        found: dict[Path, list[Reported]] = {}
        for problem in problems:
            place = problem["location"]
            reported = Reported(place["line"], problem["code"], problem["severity"])
            found.setdefault(Path(place["file"]), []).append(reported)
        return {each.name: cell(each, found.get(path_of(folder / column, each), ())) for each in FAILURES}

    return cells("call site"), cells("comment")


async def restarted(start: Start, folder: Path) -> tuple[Cells, Cells]:
    """Return what a server shows of models that nothing feeds, and what the next one for the same folder does."""
    for failure in FAILURES:
        write(folder, failure, failure.broken.text)
    client = await start(folders=[folder], options=OPTIONS)
    guessed = await shown(client, folder)
    await client.stop()
    return guessed, await shown(await start(folders=[folder], options=OPTIONS), folder)


async def shown(client: Client, folder: Path) -> Cells:
    """Return what the server publishes of files that are opened, a few at once; each must have a problem."""
    buffers = {}
    for first in range(0, len(FAILURES), _AT_ONCE):
        opened = FAILURES[first : first + _AT_ONCE]
        buffers.update({failure.name: client.open(path_of(folder, failure)) for failure in opened})

        async def silent(names: Sequence[str] = tuple(each.name for each in opened)) -> list[str]:
            return [name for name in names if not buffers[name].problems]

        # Without asking the server again and again, which takes as long as a trace.
        await client.until(silent, lambda names: not names)
    await client.rest()
    return {each.name: cell(each, map(published, buffers[each.name].problems or ())) for each in FAILURES}


def published(diagnostic: Json) -> Reported:
    return Reported(
        diagnostic["range"]["start"]["line"] + 1, diagnostic["code"], SEVERITIES[diagnostic["severity"] - 1]
    )


def path_of(folder: Path, failure: CertainFailure) -> Path:
    return folder / f"{failure.name.replace(' ', '_').lower()}.py"


def write(folder: Path, failure: CertainFailure, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path_of(folder, failure).write_text(text, encoding="utf-8")


def cell(failure: CertainFailure, problems: Iterable[Reported]) -> str:
    """Return errors and warnings in words, and whatever else is in the line of the failure."""
    counted = {each for each in problems if each.severity not in NOT_SHOWN or each.line == failure.broken.line}
    return ", ".join(map(str, sorted(counted))) or "nothing"


def table(rows: list[list[str]]) -> str:
    """Return the table as text, its columns aligned."""
    heading = ("failure", *COLUMNS, "why they differ")
    lines = [
        (f"{failure.broken.line} {failure.name}", *row, DIFFERENCES.get(failure.name, EQUAL))
        for failure, row in zip(FAILURES, rows, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(heading, *lines, strict=True)]
    padded = ([part.ljust(width) for part, width in zip(line, widths, strict=True)] for line in (heading, *lines))
    return "".join(f"{' | '.join(line).rstrip()}\n" for line in padded)
