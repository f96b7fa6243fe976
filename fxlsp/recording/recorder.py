"""Notes of how the modules of a workspace are made and called while a program runs."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from types import FrameType
from typing import Any, Final

from .argument_values import Describer, Json, has_left_out, left_out
from .constructor_calls import constructor_call, copied_from, outside_of_copy, owner_in
from .recording_file import CallNote, RecordedInstance
from .references import RecordedFolder
from .tensors import autocast_of, float_dtype_of, is_recording_a_graph

_MOST_SEEN = 64
"""Limit of instances of one class that are looked at."""
_MOST_KEPT = 8
"""Limit of different ways to make a class, and of different calls of each."""
_CALLS_OF_INSTANCE = 12
"""Limit of calls of one instance that are looked at: some of them in the other mode, or of a last and smaller batch."""
_MOST_MODULES = 20_000
"""Limit of modules whose constructor is looked at."""
_OWN_FOLDER = os.path.dirname(__file__)


@dataclass
class _Made:
    """A module that was constructed while the recorder ran."""

    ref: weakref.ref[Any]
    init: Json
    """Described arguments; None if they are unknown."""
    owner: int | None
    """Identity of the module whose code has made it."""
    number: int
    """Number of modules that were made before."""


@dataclass
class _Entry:
    """Instances of one class that were made with equal arguments."""

    instance: RecordedInstance
    calls: dict[str, CallNote] = field(default_factory=dict)


@dataclass
class _Watched:
    """An instance whose next calls are noted."""

    entry: _Entry
    calls_left: int = _CALLS_OF_INSTANCE


class Recorder:
    """Notes of one program; several of its threads may add to them."""

    def __init__(self, workspace: RecordedFolder, source: Callable[[], str]) -> None:
        """
        Args:
            source: returns the name of the program, ``train.py``, once it runs.
        """
        self._workspace = workspace
        self._source = source
        self._lock = threading.Lock()
        self._made: dict[int, _Made] = {}
        self._numbers = count()
        self._files: dict[int, tuple[type, str | None]] = {}
        """By identity of a class: the class and its file in the workspace."""
        self._entries: dict[str, _Entry] = {}
        self._seen: dict[tuple[str, str], int] = {}
        self.watched: Final[dict[int, _Watched]] = {}
        """Instances whose next call is to be noted, by identity."""
        self.news = 0
        """Number of changes of what is watched or noted."""
        self.changes = 0
        """Number of notes so far."""

    @property
    def is_watching(self) -> bool:
        """Whether any call is still to be noted."""
        return bool(self.watched)

    def instances(self) -> list[RecordedInstance]:
        """Return all notes."""
        with self._lock:
            return [
                RecordedInstance(**{**vars(entry.instance), "calls": tuple(entry.calls.values())})
                for entry in self._entries.values()
            ]

    # Construction.

    def note_construction(self, module: Any, frame: FrameType | None) -> None:
        """Note with which arguments a module is being made.

        Args:
            frame: of the constructor of ``nn.Module``.
        """
        if len(self._made) >= _MOST_MODULES or not self._lock.acquire(blocking=False):
            return
        try:
            call = constructor_call(module, frame)
            init = None
            if call is not None:
                init = Describer(self._workspace, self._described_module).arguments(call.args, call.kwargs)
            outside = frame if call is None else call.frame.f_back
            self._add(module, init, self._owner_in(outside))
            self._watch(module, init, outside)
        finally:
            self._lock.release()

    def note_restored(self, module: Any, frame: FrameType | None) -> None:
        """Note a module that was copied or loaded, without a run of its constructor.

        Args:
            frame: of the code that has restored its state.
        """
        if len(self._made) >= _MOST_MODULES or not self._lock.acquire(blocking=False):
            return
        try:
            original = copied_from(module, frame)
            made = None if original is None else self._made.get(id(original))
            init = None if made is None or made.ref() is not original else made.init
            if init is not None and self._has_foreign_layers(original):
                # It is made again by the arguments of the original only as long as that has the layers which it made.
                init = None
            self._add(module, init, self._owner_in(outside_of_copy(frame)))
            self._watch(module, init, frame)
        finally:
            self._lock.release()

    def _add(self, module: Any, init: Json, owner: object) -> None:
        identity = id(module)
        ref = weakref.ref(module, lambda _: self._forget(identity))
        self._made[identity] = _Made(ref, init, None if owner is None else id(owner), next(self._numbers))

    def _owner_in(self, frame: FrameType | None) -> object | None:
        """Return the module whose code is running."""
        return owner_in(frame, lambda found: id(found) in self._made and self._made[id(found)].ref() is found)

    def _forget(self, identity: int) -> None:
        self._made.pop(identity, None)
        self.watched.pop(identity, None)

    def _watch(self, module: Any, init: Json, outside: FrameType | None) -> None:
        kind = type(module)
        file = self._file_of(kind)
        if file is None or "<locals>" in kind.__qualname__:
            return
        model = (file, kind.__qualname__)
        self._seen[model] = self._seen.get(model, 0) + 1
        if self._seen[model] > _MOST_SEEN:
            return
        note = RecordedInstance(
            file=file,
            name=kind.__qualname__,
            source=self._source(),
            time=round(time.time(), 3),
            init=init,
            at=self._line_of(outside),
            python=".".join(map(str, sys.version_info[:3])),
            torch=str(getattr(sys.modules.get("torch"), "__version__", "")),
        )
        entry = self._entries.get(note.key)
        if entry is None:
            if sum((each.instance.file, each.instance.name) == model for each in self._entries.values()) >= _MOST_KEPT:
                return
            entry = self._entries[note.key] = _Entry(replace(note, folders=self._workspace.import_folders()))
            self._noted()
        if len(entry.calls) < _MOST_KEPT:
            self.watched[id(module)] = _Watched(entry)
            self.news += 1

    def _file_of(self, kind: type) -> str | None:
        known = self._files.get(id(kind))
        if known is None or known[0] is not kind:
            known = self._files[id(kind)] = (kind, self._workspace.file_of(kind))
        return known[1]

    # Calls.

    def give_up(self) -> None:
        """Wait no longer for calls, after many without anything new."""
        self.watched.clear()

    def note_call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> None:
        """Note the arguments of a call.

        Args:
            frame: of the caller.
        """
        torch = sys.modules.get("torch")
        if torch is None or is_recording_a_graph(torch) or _is_symbolic(args, kwargs):
            return
        if not self._lock.acquire(blocking=False):
            return
        try:
            watched, made = self.watched.get(id(module)), self._made.get(id(module))
            if watched is None or made is None or made.ref() is not module:
                return
            given = Describer(self._workspace, self._described_module).arguments(args, kwargs)
            dtype = float_dtype_of(torch, module)
            call = CallNote(
                tuple(given["args"]),
                given["kwargs"],
                training=module.__dict__.get("training") is not False,
                autocast=autocast_of(torch),
                dtype=None if dtype == "float32" else dtype,
                at=self._line_of(frame),
            )
            self._add_call(id(module), watched, call)
        finally:
            self._lock.release()

    def _add_call(self, identity: int, watched: _Watched, call: CallNote) -> None:
        calls = watched.entry.calls
        if call.key not in calls and len(calls) < _MOST_KEPT:
            calls[call.key] = call
            self._noted()
        watched.calls_left -= 1
        if not watched.calls_left or len(calls) >= _MOST_KEPT:
            self.watched.pop(identity, None)

    def _noted(self) -> None:
        self.changes += 1
        self.news += 1

    def _line_of(self, frame: FrameType | None) -> str | None:
        """Return the innermost line of a workspace file that is running."""
        for _ in range(24):
            if frame is None:
                return None
            file = self._workspace.path_of(frame.f_code.co_filename)
            if file is not None and not frame.f_code.co_filename.startswith(_OWN_FOLDER):
                return f"{file}:{frame.f_lineno}"
            frame = frame.f_back
        return None

    # Modules as arguments.

    def _described_module(self, module: object, describer: Describer) -> Json:
        """Return a module by its class and the arguments with which it was made."""
        torch: Any = sys.modules["torch"]
        kind: Any = type(module)
        children = module.__dict__.get("_modules", {})
        if kind in (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict):
            return self._described_container(kind, children, describer, torch)
        made = self._made.get(id(module))
        if made is None or made.ref() is not module or made.init is None or has_left_out(made.init):
            return left_out(f"a {kind.__name__} of which it is not known how it was made")
        if self._has_foreign_layers(module):
            return left_out(f"a {kind.__name__} whose layers were replaced after it was made")
        return {"call": {"class": describer.reference(kind), **made.init}}

    def _described_container(self, kind: Any, children: dict[str, Any], describer: Describer, torch: Any) -> Json:
        if kind is torch.nn.Sequential and all(name == str(number) for number, name in enumerate(children)):
            args = [describer.value(child) for child in children.values()]
        elif kind is torch.nn.ModuleList:
            args = [{"list": [describer.value(child) for child in children.values()]}]
        else:
            args = [{"dict": [[name, describer.value(child)] for name, child in children.items()]}]
        return {"call": {"class": describer.reference(kind), "args": args, "kwargs": {}}}

    def _has_foreign_layers(self, module: Any) -> bool:
        children = module.__dict__.get("_modules", {})
        return any(self._is_foreign(child, module) for child in children.values() if child is not None)

    def _is_foreign(self, child: object, module: object) -> bool:
        """Return whether a submodule was made after its module, by other code than that of the module.

        One that was made before is an argument.
        """
        made, around = self._made.get(id(child)), self._made[id(module)]
        return made is None or (made.owner != id(module) and made.number > around.number)


def _is_symbolic(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a call is made by a tracer, with stand-ins in the place of tensors."""
    proxy: Any = getattr(sys.modules.get("torch.fx"), "Proxy", None)
    return proxy is not None and any(issubclass(type(each), proxy) for each in (*args, *kwargs.values()))
