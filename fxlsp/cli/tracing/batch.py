"""``fxlsp trace --batch``: one report or failure a line, in the order of requests."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from threading import Thread
from typing import IO

from fxlsp.cli.exit_codes import COULD_NOT_RUN, NOTHING_FOUND, UsageError
from fxlsp.cli.tracing.jobs import CommandLineJob, trace_job
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import TracePool, open_pool
from fxlsp.report.codes import NO_INTERPRETER, NOT_FOUND
from fxlsp.report.problems import Failure
from fxlsp.report.report import Report

_AHEAD = 2 * (os.cpu_count() or 1)
"""Number of lines that are read before the first of them is answered."""


async def trace_batch(file: str, projects: Projects) -> int:
    """Trace each line of ``file``, ``-`` being standard input.

    Returns:
        The exit code: 0 once every line has its answer, whatever it contains; 2 if no interpreter could trace any.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        source = nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb")  # noqa: SIM115, ASYNC230
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with source as stream:
        async with open_pool() as traces:
            codes = [_print_answer(answer) async for answer in _answers(stream, projects, traces)]
    return COULD_NOT_RUN if codes and set(codes) == {NO_INTERPRETER} else NOTHING_FOUND


async def _answers(stream: IO[bytes], projects: Projects, traces: TracePool) -> AsyncIterator[Report | Failure]:
    """Yield the answers in order.

    A few lines are traced ahead; a batch may be larger than memory.
    """
    waiting: asyncio.Queue[asyncio.Task[Report | Failure] | None] = asyncio.Queue(maxsize=_AHEAD)
    loop = asyncio.get_running_loop()

    async def add(number: int, line: bytes) -> None:
        await waiting.put(asyncio.create_task(_answer(line, number, projects, traces)))

    def read() -> None:
        """Read line by line as they arrive.

        The process that writes them may wait for an answer before the next.
        """
        try:
            for number, line in enumerate(iter(stream.readline, b""), start=1):
                if line.strip():
                    asyncio.run_coroutine_threadsafe(add(number, line), loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(waiting.put(None), loop).result()

    # A daemon: a command that is interrupted does not wait for its standard input.
    Thread(target=read, daemon=True).start()
    while (task := await waiting.get()) is not None:
        yield await task


async def _answer(line: bytes, number: int, projects: Projects, traces: TracePool) -> Report | Failure:
    job = _job(line, number)
    return job if isinstance(job, Failure) else await trace_job(job, projects, traces, symbols=True)


def _job(line: bytes, number: int) -> CommandLineJob | Failure:
    try:
        data = json.loads(line)
    except ValueError as error:
        return Failure("", NOT_FOUND, f"line {number} is not JSON: {error}")
    if not isinstance(data, dict) or not isinstance(data.get("target"), str):
        return Failure("", NOT_FOUND, f'line {number} is not an object with a "target" that is a string')
    target, init, inputs = data["target"], data.get("init"), data.get("inputs")
    if not isinstance(init, str | None) or not isinstance(inputs, str | None):
        return Failure(target, NOT_FOUND, f'"init" and "inputs" of line {number} must be strings')
    return CommandLineJob(target, init, inputs)


def _print_answer(answer: Report | Failure) -> str | None:
    """Print an answer; return the code of a failure."""
    sys.stdout.write(json.dumps(answer.to_json()) + "\n")
    sys.stdout.flush()
    return answer.code if isinstance(answer, Failure) else None
