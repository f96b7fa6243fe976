"""A real supervisor process, used over the wire protocol without the engine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fxlsp
from fxlsp.report.report import Report
from fxlsp.report.sizes import ANY_SIZES, Sizes
from fxlsp.report.symbolic_sizes import SymbolicSizes
from fxlsp.report.tracer_choice import TORCH_FX, TracerChoice
from fxlsp.wire.frames import Decoder, JsonMessage, encode, text_digest
from fxlsp.wire.messages import Limits
from tests.support.running import stacks_below, stacks_of
from tests.support.waiting import PATIENCE
from tests.support.warm import supervisor

_SILENCE = 2 * PATIENCE
"""Seconds without a message after which the supervisor counts as hung."""
BOOTSTRAP = Path(fxlsp.__file__).parent / "tracing" / "bootstrap.py"


class Worker:
    """Supervisor under this interpreter, and its messages."""

    def __init__(self, bootstrap: Path = BOOTSTRAP, *, spawn: bool = False, warm: bool = False) -> None:
        """Start the supervisor and wait for its first message.

        Args:
            spawn: whether it starts its workers instead of forking them.
            warm: whether it may be forked from a process with torch imported.
        """
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        environment["FXLSP_SPAWN"] = "1" if spawn else ""
        started = [sys.executable, str(bootstrap), str(theirs.fileno())]
        self.process = subprocess.Popen(
            supervisor(theirs.fileno()) if warm else started,
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._connection = ours
        self._connection.settimeout(_SILENCE)
        self._messages = self._receive()
        self._ids = 0
        self.is_lost = False
        """Whether nothing more comes from it: it did not answer, or its connection has ended."""
        try:
            self.hello = next(self._messages)
        except BaseException:
            self.close()
            raise

    def _receive(self) -> Iterator[JsonMessage]:
        decoder = Decoder()
        try:
            while data := self._received():
                yield from decoder.feed(data)
        finally:
            self.is_lost = True

    def _received(self) -> bytes:
        try:
            return self._connection.recv(2**20)
        except TimeoutError:
            raise AssertionError(f"the supervisor sent nothing for {_SILENCE:.0f} s:\n{stacks_below()}") from None

    def send(self, message: JsonMessage) -> None:
        self._connection.sendall(encode(message))

    def next(self) -> JsonMessage:
        """Return the next message other than stages and logs."""
        return next(message for message in self._messages if message["type"] not in ("stage", "log"))

    def next_stage(self, name: str) -> None:
        """Wait until a trace reaches a stage."""
        for message in self._messages:
            if message["type"] == "stage" and message["name"] == name:
                return
            assert message["type"] in ("stage", "log", "early"), f"the trace ended before the stage {name}: {message}"

    def ask(
        self,
        target: str,
        init: str | None = None,
        inputs: str | None = None,
        *,
        source: str = "option",
        overlays: Mapping[str, str] | None = None,
        seconds: float = 60,
        megabytes: int = 16_000,
        processes: int = 32,
        open_files: int = 4096,
        written_megabytes: float = 1024,
        roots: tuple[str, ...] = (),
        guess: Mapping[str, str | None] | None = None,
        tracer: TracerChoice = TORCH_FX,
        sizes: Sizes = ANY_SIZES,
        early: bool = False,
        symbols: bool = False,
        frontend: str | None = None,
        fixed_sizes: bool = False,
    ) -> int:
        """Send a trace request and return its id."""
        place, _, name = target.rpartition(":")
        self._ids += 1
        overlays = overlays or {}
        for path, text in overlays.items():
            self.send({"type": "overlay", "path": path, "digest": text_digest(text), "text": text})
        self.send(
            {
                "type": "trace",
                "id": self._ids,
                "target": {"file" if place.endswith(".py") else "module": place, "name": name},
                "recipe": {"init": init, "inputs": inputs, "source": source if init else None, "guess": guess},
                "overlays": {path: text_digest(text) for path, text in overlays.items()},
                "roots": list(roots),
                "tracer": tracer.to_json(),
                "sizes": sizes.to_json(),
                "early": early,
                "symbols": symbols,
                "frontend": frontend,
                "fixed_sizes": fixed_sizes,
                "limits": Limits(seconds, megabytes, processes, open_files, written_megabytes).to_json(),
            }
        )
        return self._ids

    def answer(self, target: str, init: str | None = None, inputs: str | None = None, **options: Any) -> JsonMessage:
        """Send a trace request and return the answer."""
        request = self.ask(target, init, inputs, **options)
        message = self.next()
        assert message["id"] == request
        return message

    def report(self, target: str, init: str | None = None, inputs: str | None = None, **options: Any) -> Report:
        """Send a trace request that must succeed and return the report."""
        message = self.answer(target, init, inputs, **options)
        assert message["type"] == "report", message
        report = Report.from_json(message["report"])
        symbolic = message.get("symbolic")
        return report if symbolic is None else SymbolicSizes.from_json(symbolic).applied(report)

    def close(self) -> None:
        """Close the connection, after which the supervisor must exit by itself."""
        self._connection.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            stacks = stacks_of(self.process.pid)
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the supervisor {self.process.pid} does not exit:\n{stacks}") from None
