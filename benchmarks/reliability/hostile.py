"""Hostile models beside a healthy one: whether the server stays, and what each costs."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from benchmarks.reliability.acts import HostileModel, random_model, zoo
from benchmarks.reliability.progress import Outcome, Share
from benchmarks.reliability.session import Session, none_left, processes, session
from dev.editor import Buffer

VERDICT_SECONDS = 30.0
"""Until a hostile model has an answer: the limit of a trace in an editor is 10 s, and it may be traced twice."""
END_SECONDS = 2.0


async def run_zoo(share: Share) -> Outcome:
    """Open the zoo in a random order, until the share is done or its time is over."""
    models = zoo()
    Random(share.seed).shuffle(models)
    return await _run(models[share.done :], share, "the zoo")


async def run_compositions(share: Share) -> Outcome:
    """Open random compositions of what the zoo does, until the share is done or its time is over."""
    random = Random(share.name("compositions"))
    return await _run((random_model(random) for _ in range(share.left)), share, "random compositions")


async def _run(models: Iterable[HostileModel], share: Share, kind: str) -> Outcome:
    deadline, patience = time.monotonic() + share.seconds, share.patience
    wrong: list[str] = []
    delays: list[float] = []
    count = 0
    with tempfile.TemporaryDirectory() as name:
        async with session(Path(name)) as running:
            usual = len(processes(running.mark))
            for model in models:
                if time.monotonic() > deadline:
                    break
                count += 1
                wrong += await _attack(running, count, model, delays, patience)
            left = len(processes(running.mark)) - usual
            if left > 2:
                wrong.append(f"{left} more processes than at first while the server runs")
            mark, files = running.mark, running.left_files
        remaining = await none_left(mark, END_SECONDS * patience)
        if remaining:
            wrong.append(f"left {END_SECONDS * patience:g} s after the end: {remaining}")
        if files():
            wrong.append(f"files left: {sorted(files())[:10]}")
    slowest = max(delays, default=0.0)
    print(
        f"{kind}: {count} models, {len(wrong)} faults; answers for the healthy model: median "
        f"{statistics.median(delays or [0.0]):.2f} s, slowest {slowest:.2f} s",
        flush=True,
    )
    return Outcome(count, wrong)


async def _attack(
    running: Session, number: int, model: HostileModel, delays: list[float], patience: float
) -> list[str]:
    """Open one model, edit the healthy one meanwhile, and wait for what is reported of the hostile one."""
    path = running.folder / f"hostile_{number}.py"
    path.write_text(model.text, encoding="utf-8")
    uri = running.client.open(path)
    wrong = []
    try:
        delays.append(await running.new_shape())
    except asyncio.TimeoutError:
        wrong.append(f"{model.name}: the healthy model has no new answer")
    try:
        await _answered(running, running.client.buffers[uri], VERDICT_SECONDS * patience)
    except asyncio.TimeoutError:
        wrong.append(f"{model.name}: no answer within {VERDICT_SECONDS * patience:g} s")
    running.client.close(uri)
    path.unlink()
    return wrong


async def _answered(running: Session, buffer: Buffer, seconds: float) -> None:
    """Wait until the lens of the hostile model says what came of it."""

    async def has_answer() -> bool | None:
        titles = [lens["command"]["title"] for lens in await running.client.lenses(buffer.uri)]
        return True if any("traceable" in title or "not traced: " in title for title in titles) else None

    await running.client.until(has_answer, seconds)
