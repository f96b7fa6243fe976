"""Attacks a server: ``python -m benchmarks.reliability [PART ...] [--seconds N] [--seed N] [--resume FILE]``.

Exits with 1 if something went wrong, with 3 if nothing did but there is more to do. What each part does and what it
found: docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import NamedTuple

from benchmarks.reliability.acts import zoo
from benchmarks.reliability.hostile import run_compositions, run_zoo
from benchmarks.reliability.kills import run_kills
from benchmarks.reliability.progress import Outcome, Progress, Share
from benchmarks.reliability.protocol import run_messages
from benchmarks.reliability.soak import run_soak
from benchmarks.reliability.system_calls import run_calls
from benchmarks.reliability.text_edits import run_edits


class Part(NamedTuple):
    """One kind of attack, and how much of it a release needs."""

    run: Callable[[Share], Coroutine[None, None, Outcome]]
    wanted: int


PARTS = {
    "zoo": Part(run_zoo, len(zoo())),
    "compositions": Part(run_compositions, 300),
    "messages": Part(run_messages, 1_000_000),
    "edits": Part(run_edits, 30_000),
    "soak": Part(run_soak, 10_000),
    "kills": Part(run_kills, 200),
    "calls": Part(run_calls, 100_000),
}
SHORT = ("compositions", "messages", "edits", "kills")
"""Parts that find something within half a minute. CI runs on busy machines: only what is far too late is a fault."""
PATIENCE = 10.0
_UNFINISHED = 3


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=description)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="left out: all")
    parser.add_argument("--seconds", type=float, default=7200.0, help="for each part at most (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help=f"half a minute for each of {', '.join(SHORT)}")
    parser.add_argument("--seed", type=int, help="of all that is random; drawn and printed if left out")
    parser.add_argument("--resume", metavar="FILE", type=Path, help="go on where runs on the same code have stopped")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("The processes of a session are found on Linux only.", file=sys.stderr)
        return 2
    progress = Progress.read(options.resume) if options.resume is not None else None
    if progress is None or _is_finished(progress):
        progress = Progress(random.SystemRandom().randrange(10**6) if options.seed is None else options.seed)
    print(f"seed {progress.seed}, process {os.getpid()}", flush=True)
    names = SHORT if options.short else options.part or PARTS
    for name in names:
        part, done = PARTS[name], progress.done.get(name, 0)
        if done >= part.wanted:
            print(f"{name}: done before", flush=True)
            continue
        if options.short:
            share = Share(progress.seed, 30.0, patience=PATIENCE)
        else:
            share = Share(progress.seed, options.seconds, done, part.wanted)
        progress.add(name, asyncio.run(part.run(share)), options.resume)
    print("\n".join(progress.wrong) or "nothing went wrong", flush=True)
    unfinished = [f"{name} {progress.done[name]} of {PARTS[name].wanted}" for name in names if _is_open(progress, name)]
    if unfinished and not options.short:
        print(f"more to do: {', '.join(unfinished)}", flush=True)
    if progress.wrong:
        return 1
    return _UNFINISHED if unfinished and options.resume is not None else 0


def _is_open(progress: Progress, name: str) -> bool:
    return progress.done.get(name, 0) < PARTS[name].wanted


def _is_finished(progress: Progress) -> bool:
    return not any(_is_open(progress, name) for name in PARTS)


if __name__ == "__main__":
    sys.exit(main())
