"""Loading of a request's files, and building of its models.

The first load is that of the request's first target, with large tensors fake. A process may be forked in the middle of
it, when the head of the target's file has run, and resume with another request for the same file
(:mod:`..processes.worker.forking_load`). The rest of a request has had no effect by then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from ...wire.messages import TraceRequest
from ..isolation.torch_private import FakeTensorMode
from ..model.building.builder import Builder, Built, FakesFailedError, Loaded, NoModelError
from ..model.building.fake_tensors import new_fake_mode
from ..model.loading.lazy_module import AfterHead, Execution
from ..model.loading.loader import Loader, relative_level
from ..model.locations.code_origin import is_installed
from ..model.locations.expressions import Expressions
from ..model.locations.source_map import SourceMap
from ..model.locations.sources import Sources
from ..model.targets import ModelTarget, first_target
from ..passes.timing import Timing

StageCallback = Callable[[str], None]


class RequestLoad:
    """Load of one request, executed once by :meth:`run`, with what it recorded."""

    def __init__(self, request: TraceRequest, report_stage: StageCallback) -> None:
        """
        Args:
            request: the request, with the texts of its unsaved buffers.
            report_stage: called with the name of each stage as it begins.
        """
        self.request = request
        self.timing = Timing(report_stage)
        self.loaded_before = dict(sys.modules)
        self._sources = Sources(request.texts)
        self._expressions = Expressions(self._sources)
        self.source_map = SourceMap(self._sources, self._expressions)
        self.loader = Loader(self._sources, self._expressions, request.roots)
        self.fake_mode = new_fake_mode()
        self._target = first_target(request)
        self.builder = Builder(self._target, self.loader, self.source_map, self.fake_mode, real_tensors=False)
        self._outcome: Loaded | NoModelError | FakesFailedError | None = None

    def run(self) -> None:
        """Load the files; errors are stored, and raised by :meth:`loaded`."""
        with self.timing.stage("load"):
            try:
                self._outcome = self.builder.load()
            except (NoModelError, FakesFailedError) as error:
                self._outcome = error

    def pause_after_head(self, then: AfterHead) -> None:
        """Call ``then`` when the head of the target's file has run."""
        if self._target.file is not None:
            self.loader.pause_after_head(self._target.file, then)

    def call_after_file(self, then: Callable[[ModuleType], None]) -> None:
        """Call ``then`` with the module of the target's file when that has run, perhaps inside an import."""
        if self._target.file is not None:
            self.loader.call_after_file(self._target.file, then)

    def is_of(self, target: ModelTarget) -> bool:
        """Return whether the load serves ``target``; if so, make it the builder's."""
        if _load_of(target) != _load_of(self._target):
            return False
        self._target = target
        self.builder.set_target(target)
        return True

    def loaded(self) -> Loaded:
        """Return the loaded modules.

        Raises:
            NoModelError, FakesFailedError: :meth:`..model.building.builder.Builder.load` raised it.
        """
        assert self._outcome is not None
        if isinstance(self._outcome, Loaded):
            return self._outcome
        raise self._outcome

    def can_resume_with(self, request: TraceRequest, execution: Execution) -> bool:
        """Return whether this load, paused after the head, can serve ``request``.

        That is so if the load of ``request`` would be the same up to that point, provided that the files that were
        read have not changed. ``execution`` is that of the file.
        """
        target = first_target(request)
        path = self._target.file
        if path is None or _before_head(request, target) != _before_head(self.request, self._target):
            return False
        sources = Sources(request.texts)
        try:
            tree = Expressions(sources).parsed(path)
        except SyntaxError:
            return False
        before = self._expressions.parsed(path)
        if relative_level(tree) != relative_level(before):
            return False
        return execution.head_of(tree, target.names_wanted) == execution.head_of(before, self._target.names_wanted)

    def resume_with(self, request: TraceRequest, execution: Execution, report_stage: StageCallback) -> None:
        """Continue as the load of ``request``, for which :meth:`can_resume_with` was true."""
        self.request = request
        self._target = first_target(request)
        assert self._target.file is not None
        self._sources.replace_overlays(request.texts)
        self.source_map.invalidate(self._target.file)
        self.builder.set_target(self._target)
        self.loader.resume_with(execution, self._target.file)
        self.timing.restart("load", report_stage)


class LoadedTarget(NamedTuple):
    """Loaded modules of a target, with the builder of its model."""

    mode: FakeTensorMode
    builder: Builder
    loaded: Loaded


class BuiltModel(NamedTuple):
    """Model built for one pass."""

    mode: FakeTensorMode
    builder: Builder
    built: Built


class ModelFactory:
    """Builder of the models of one request.

    The files are loaded again for each model; the first one uses the first load.
    """

    def __init__(self, first: RequestLoad) -> None:
        """
        Args:
            first: the first load, which has run.
        """
        self._first: RequestLoad | None = first
        self._loader = first.loader
        self._source_map = first.source_map
        self._timing = first.timing

    def load(self, target: ModelTarget, real_tensors: bool) -> LoadedTarget:
        """Load what ``target`` needs; tensors of every size are real if ``real_tensors``.

        Raises:
            NoModelError: the file does not parse, import or run.
            FakesFailedError: the file failed because of fake tensors.
        """
        first, self._first = self._first, None
        if first is not None and not real_tensors and first.is_of(target):
            return LoadedTarget(first.fake_mode, first.builder, first.loaded())
        self._loader.unload()
        mode = new_fake_mode()
        builder = Builder(target, self._loader, self._source_map, mode, real_tensors)
        with self._timing.stage("load"):
            return LoadedTarget(mode, builder, builder.load())

    def build(self, target: ModelTarget, real_tensors: bool) -> BuiltModel:
        """Load what ``target`` needs, and construct the model.

        Raises:
            NoModelError, FakesFailedError: loading or construction failed.
        """
        mode, builder, loaded = self.load(target, real_tensors)
        with self._timing.stage("construct"):
            return BuiltModel(mode, builder, builder.build(loaded))


def _load_of(target: ModelTarget) -> tuple[object, ...]:
    """Return the parts of a target that affect loading it."""
    return (target.file, target.module, target.names_in, target.outermost_name, sorted(set(target.names_in_recipe)))


def _before_head(request: TraceRequest, target: ModelTarget) -> tuple[object, ...]:
    """Return the parts of a request that affect its load up to the head, except texts."""
    return (
        request.target.file,
        request.roots,
        target.names_in,
        target.names_in and target.names_in_recipe,
        # Installed files that are open in the editor are executed as workspace files.
        {path for path in request.texts if is_installed(os.path.realpath(path))},
    )
