"""Graph of a model whose package is still being imported.

A package that imports the model's file goes on to import others after it. In torchvision's repository they take most of
the time of an edit. A process that is forked when the model's file has run builds and traces the model meanwhile, and
sends its graph. The trace after the whole import follows and decides: what is imported later may change the model.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from contextlib import suppress
from types import ModuleType

from ....report.report import Report
from ....wire.messages import EarlyReport, FileRead, Ready
from ...isolation.child_processes.fds import write_all
from ...isolation.child_processes.side_process import NoResultError, SideProcess
from ...job.load import RequestLoad
from ...job.user_tracer import UserTracer
from ...model.building.builder import FakesFailedError, Loaded, NoModelError
from ...model.building.construction import leave_running
from ...model.capture.feeding import ModelWithInputs, prepare_feed
from ...model.capture.tracer import ModulePathTracer
from ...model.targets import ModelTarget, first_target, guessed_request, is_settled
from ...passes.plain_pass import PlainPass
from ...passes.timing import Timing
from .request_execution import ignore_stage

MIN_REST_SECONDS = 0.1
"""Minimal processor time of the import after the model's file: a fork takes some 20 ms, a small trace 50."""
_SECONDS_TO_SEND = 10.0
_SECONDS = struct.Struct("d")


class ImportPreview:
    """Process that traces a model while the import of its package goes on."""

    def __init__(self, load: RequestLoad, reports: int) -> None:
        """
        Args:
            load: the load of the request.
            reports: descriptor of the pipe to which the graph is sent.
        """
        self._load = load
        self._reports = reports
        self._expected = mmap.mmap(-1, _SECONDS.size)
        """Processor time of the import after the model's file in the last load, seconds; 0 before the first one. Shared
        with all processes that are forked from this one."""
        self._ran_at: float | None = None
        self._process: SideProcess[Ready] | None = None
        self._turn = -1
        """Pipe with one byte: the process that reads it may write to ``reports``."""

    def file_ran(self, module: ModuleType, is_resumed: bool) -> None:
        """Start the process if the rest of the import is expected to take long."""
        self._ran_at = time.process_time()
        (expected,) = _SECONDS.unpack_from(self._expected)
        target = self._target() if is_resumed and expected >= MIN_REST_SECONDS else None
        if target is not None:
            # An exception would pass through the user's imports.
            with suppress(OSError):
                self._start(module, target)

    def load_ended(self) -> None:
        """End the process, unless it is sending: then wait until it has sent."""
        if self._ran_at is not None:
            _SECONDS.pack_into(self._expected, 0, time.process_time() - self._ran_at)
        if self._process is None:
            return
        try:
            os.read(self._turn, 1)
        except BlockingIOError:
            with suppress(NoResultError):
                self._process.result(_SECONDS_TO_SEND, self._load.request.limits.megabytes)
        self._process.end()
        self._process = None
        os.close(self._turn)

    def _target(self) -> ModelTarget | None:
        """Return the target, if a graph is wanted and needs neither a search nor names of another file."""
        request = self._load.request
        if not request.early or request.frontend is not None:
            return None
        target = first_target(request)
        has_recipe = is_settled(request) or guessed_request(request) is not None
        return target if has_recipe and target.names_in is None else None

    def _start(self, module: ModuleType, target: ModelTarget) -> None:
        self._turn, giver = os.pipe()
        os.set_blocking(self._turn, False)
        os.write(giver, b"1")
        os.close(giver)
        process = SideProcess(lambda: self._run(module, target), Ready)
        process.start()
        self._process = process

    def _run(self, module: ModuleType, target: ModelTarget) -> Ready:
        """Trace the model in the forked process, and send a complete graph."""
        leave_running()
        # Without a model there is no graph yet: the trace after the import says why, if it has none either.
        with suppress(NoModelError, FakesFailedError, _SentError):
            self._trace(module, target)
        return Ready()

    def _trace(self, module: ModuleType, target: ModelTarget) -> None:
        load = self._load
        if not load.is_of(target):
            return
        timing = Timing(ignore_stage)
        built = load.builder.build(Loaded(module, module))
        tracer = UserTracer(load.request.tracer, load.loader, str(target)).recording_class(ModulePathTracer)
        feed = prepare_feed(target, built, load.fake_mode, load.source_map, real_tensors=False)
        subject = ModelWithInputs(str(target), built, load.builder.constructions, feed, load.fake_mode, real=False)
        PlainPass(subject, tracer(load.source_map), load.source_map, timing).run(False, lambda: None, self._send)

    def _send(self, graph: Report) -> None:
        load = self._load
        reads = tuple(FileRead(path, digest) for path, digest in load.loader.read.items())
        with suppress(BlockingIOError):
            os.read(self._turn, 1)
            write_all(self._reports, EarlyReport(load.request.id, graph.to_json(), reads).encoded())
        raise _SentError


class _SentError(BaseException):
    """The graph was sent: what follows of the pass is not needed."""
