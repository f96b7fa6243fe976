"""Processes of a working session are killed at random: every answer comes again, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from benchmarks.nearest_rank import percentile_95
from benchmarks.reliability.progress import Outcome, Share
from benchmarks.reliability.session import none_left, parent, processes, session

ANSWER_SECONDS = 5.0
END_SECONDS = 2.0
_WINDOW_SECONDS, _MOST_RESTARTS = 180.0, 2
"""Kills of processes that the server itself has started, which it counts."""
_PAUSE_SECONDS = 0.5
"""Longest time between an edit and a kill in its work."""


async def run_kills(share: Share) -> Outcome:
    """Kill processes other than the server until the share is done or its time is over."""
    deadline, random, patience = time.monotonic() + share.seconds, Random(share.name("kills")), share.patience
    wrong: list[str] = []
    delays: list[float] = []
    restarts: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        async with session(Path(name)) as running:
            server = running.client.connection.pid
            while len(delays) < share.left and time.monotonic() < deadline and len(wrong) < 10:
                editing = asyncio.create_task(running.new_shape())
                await asyncio.sleep(random.random() * _PAUSE_SECONDS)
                victim = random.choice(_victims(processes(running.mark), server, restarts) or [0])
                if parent(victim) == server:
                    restarts.append(time.monotonic())
                _kill(victim, random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV)))
                began = time.monotonic()
                # The edit whose trace was killed shows that, until the next edit.
                editing.cancel()
                try:
                    await running.new_shape()
                except asyncio.TimeoutError:
                    wrong.append(f"no answer after kill {len(delays) + 1}: {await running.state()}")
                delays.append(time.monotonic() - began)
            mark, files = running.mark, running.left_files
        remaining = await none_left(mark, END_SECONDS * patience)
        if remaining:
            wrong.append(f"left {END_SECONDS * patience:g} s after the end: {remaining}")
        if files():
            wrong.append(f"files left: {sorted(files())[:10]}")
    late = sum(delay > ANSWER_SECONDS * patience for delay in delays)
    wrong += [f"{late} answers took more than {ANSWER_SECONDS * patience:g} s"] if late else []
    slowest = f"95 % within {percentile_95(delays):.2f} s, slowest {max(delays):.2f} s" if delays else "none"
    print(f"kills: {len(delays)}, {len(wrong)} faults; right answers again: {slowest}", flush=True)
    return Outcome(len(delays), wrong)


def _victims(pids: Iterable[int], server: int, restarts: list[float]) -> list[int]:
    """Return the processes that may be killed now.

    The server starts a process that keeps dying after longer and longer pauses, and then not again.
    """
    recent = [moment for moment in restarts if time.monotonic() - moment < _WINDOW_SECONDS]
    may_restart = len(recent) < _MOST_RESTARTS
    return sorted(pid for pid in pids if pid != server and (may_restart or parent(pid) != server))


def _kill(pid: int, number: signal.Signals) -> None:
    if pid:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
