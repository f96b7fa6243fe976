"""False flashes while a user types: problems that are shown, are not true, and vanish.

Replays editing sessions (:mod:`benchmarks.typist`) key by key in the real server process. A problem that is published
and vanishes within two seconds is a false flash, unless it is among the problems of a text at which the user rested.
Exits with 1 if there is one, or if a message has an address in memory or an internal name.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.nearest_rank import percentile_95
from benchmarks.typist import PARENT, EditingSession, Key, editing_session
from dev.editor import Editor, editor
from dev.rpc import Json

SESSIONS = 25
FLASH_SECONDS = 2.0
SETTLE_SECONDS = 4.0
"""After the last key, until the last problems are there."""

INTERNAL = re.compile(r"0x[0-9a-fA-F]{5,}|_fxlsp_tracing|_?Fxlsp[A-Z]\w*|DuckValue|StandIn")
"""Addresses in memory, and names that no user has written."""

Shown = tuple[str, str]
"""Code and message."""


@dataclass
class Replay:
    """What was shown during one session."""

    session: EditingSession
    published: list[tuple[float, frozenset[Shown]]] = field(default_factory=list)
    """All problems at a time, whenever they were published."""
    at_rest: set[Shown] = field(default_factory=set)
    """The problems of the texts at which the user rested."""
    mistakes: list[tuple[float, str]] = field(default_factory=list)
    """When each mistake was finished, and its code."""
    texts: list[tuple[float, str]] = field(default_factory=list)
    lost_hints: int = 0
    """How often the hint of an unchanged line vanished while the user typed."""

    def spells(self) -> Iterator[tuple[Shown, float, float]]:
        """Yield each problem with the times of its appearance and disappearance."""
        since: dict[Shown, float] = {}
        for now, problems in self.published:
            for gone in since.keys() - problems:
                yield gone, since.pop(gone), now
            for new in problems - since.keys():
                since[new] = now
        yield from ((shown, start, float("inf")) for shown, start in since.items())

    def flashes(self) -> list[tuple[Shown, float, float]]:
        return [
            (shown, start, end)
            for shown, start, end in self.spells()
            if end - start < FLASH_SECONDS and shown not in self.at_rest
        ]

    def untrue(self) -> set[Shown]:
        """Return what was shown, for however long, and was at no rest."""
        return {shown for shown, _, _ in self.spells()} - self.at_rest

    def delays(self) -> Iterator[tuple[str, float | None]]:
        """Yield the code of each mistake, and the seconds until its message; None if it never came."""
        for finished, code in self.mistakes:
            starts = [start for (found, _), start, end in self.spells() if found == code and end > finished]
            yield code, max(0.0, min(starts) - finished) if starts else None

    def text_at(self, moment: float) -> str:
        return next(text for when, text in reversed(self.texts) if when <= moment)


async def replay(client: Editor, path: Path, session: EditingSession) -> Replay:
    """Open a file, press all keys, and return what was shown meanwhile."""
    played = Replay(session)
    uri = client.open(path, session.text)
    played.texts.append((time.monotonic(), session.text))

    def on_problems(published_uri: str, problems: list[Json]) -> None:
        if published_uri == uri:
            shown = frozenset((str(each.get("code")), each["message"]) for each in problems)
            played.published.append((time.monotonic(), shown))

    client.on_problems = on_problems
    seen: list[tuple[bool, dict[str, str]]] = []
    for key in session.keys:
        await asyncio.sleep(key.pause)
        if key.is_rest:
            played.at_rest |= _present(played)
        _press(client, uri, key, played)
        seen.append((key.is_rest, await _hints(client, uri)))
    await asyncio.sleep(SETTLE_SECONDS)
    played.at_rest |= _present(played)
    played.lost_hints = sum(_blinks(line, seen) for line in await _hints(client, uri))
    client.close(uri)
    return played


def _press(client: Editor, uri: str, key: Key, played: Replay) -> None:
    if key.edits:
        client.edit(uri, key.start, key.end, key.text)
        played.texts.append((time.monotonic(), client.buffers[uri].text))
    if key.saves:
        client.save(uri)
    if key.mistake:
        played.mistakes.append((time.monotonic(), key.mistake))


def _present(played: Replay) -> frozenset[Shown]:
    return played.published[-1][1] if played.published else frozenset()


async def _hints(client: Editor, uri: str) -> dict[str, str]:
    """Return the hints by the text of their lines, of lines that are there once."""
    lines = client.buffers[uri].text.split("\n")
    hints = {lines[hint["position"]["line"]]: str(hint["label"]) for hint in await client.hints(uri)}
    # A line without a hint is noted too: it may have lost one.
    return {line: hints.get(line, "") for line in lines if lines.count(line) == 1 and line.strip()}


def _blinks(line: str, seen: Sequence[tuple[bool, dict[str, str]]]) -> int:
    """Return how often the hint of an unchanged line vanished between two keys, without a rest between them."""
    pairs = itertools.pairwise(seen)
    return sum(
        bool(before.get(line)) and after.get(line) == "" and not rested for (_, before), (rested, after) in pairs
    )


async def _warm(client: Editor, folder: Path) -> None:
    """Wait until the supervisor has imported torch."""
    uri = client.open(folder / "warm.py", PARENT)

    async def hints() -> bool | None:
        return bool(await client.hints(uri)) or None

    await client.until(hints)
    client.close(uri)


async def _lane(numbers: Sequence[int]) -> list[Replay]:
    """Replay sessions one after the other in one server."""
    with tempfile.TemporaryDirectory() as name:
        async with editor(Path(name)) as client:
            await _warm(client, Path(name))
            return [await replay(client, Path(name) / f"net{each}.py", editing_session(each)) for each in numbers]


async def measure(numbers: Sequence[int], lanes: int) -> list[Replay]:
    """Replay sessions in several servers at once."""
    found = await asyncio.gather(*(_lane(numbers[lane::lanes]) for lane in range(lanes)))
    return [played for each in found for played in each]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replays", description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", default=f"0:{SESSIONS}", help="FIRST:LAST, the last one exclusive")
    parser.add_argument("--lanes", type=int, default=2, help="servers at once")
    arguments = parser.parse_args()
    first, last = map(int, arguments.sessions.split(":"))
    played = sorted(
        asyncio.run(measure(range(first, last), arguments.lanes)), key=lambda replayed: replayed.session.name
    )
    for each in played:
        _print_session(each)
    return _print_summary(played)


def _print_session(played: Replay) -> None:
    flashes, codes = played.flashes(), sorted({code for (code, _), _, _ in played.spells()})
    delays = ", ".join(f"{code} {'never' if wait is None else f'{wait:.2f} s'}" for code, wait in played.delays())
    print(f"{played.session.name}: {len(flashes)} flashes; shown: {' '.join(codes)}; mistakes: {delays}", flush=True)
    for (code, message), start, end in played.spells():
        if (code, message) in played.at_rest:
            continue
        print(f"    {code} for {end - start:.2f} s: {message.splitlines()[0][:110]}")
        print(f"        {_edited_line(played, start)}")


def _edited_line(played: Replay, moment: float) -> str:
    """Return the lines of the text at a moment that are not in the last one."""
    last = set(played.texts[-1][1].split("\n"))
    return " | ".join(line.strip() for line in played.text_at(moment).split("\n") if line not in last) or "(same lines)"


def _print_summary(played: Sequence[Replay]) -> int:
    flashes = sum(len(each.flashes()) for each in played)
    waits = [wait for each in played for _, wait in each.delays()]
    known = [wait for wait in waits if wait is not None]
    messages = {shown for each in played for _, problems in each.published for shown in problems}
    internal = sorted((code, message) for code, message in messages if INTERNAL.search(message))
    for code, message in internal:
        print(f"internal name in {code}: {message}")
    print(f"{len(played)} sessions, {sum(len(each.session.keys) for each in played)} keys")
    print(f"false flashes: {flashes}, in {sum(bool(each.flashes()) for each in played)} sessions")
    print(f"shown for any time and at no rest: {sum(len(each.untrue()) for each in played)}")
    print(f"hints that vanished from unchanged lines: {sum(each.lost_hints for each in played)}")
    print(f"messages: {len(messages)}, with internal names: {len(internal)}")
    if known:
        median, high = statistics.median(known), percentile_95(known)
        print(
            f"time to message: median {median:.2f} s, p95 {high:.2f} s, {len(waits) - len(known)} of {len(waits)} never"
        )
    return 1 if flashes or internal else 0


if __name__ == "__main__":
    sys.exit(main())
