"""Observation of ``nn.Module``: how it is made and called, replaced only while there is something to note.

The constructor, and the method that copies and loaded modules get their state by, are observed as long as the recorder
runs, calls only until the first calls of each instance are noted.
Nothing is replaced while torch imports modules that store the originals, and calls are not observed any more once
``torch.compile`` compiles: what it compiles must be torch's own.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from .import_watch import ImportWatch
from .recorder import Recorder

_UNEVENTFUL_CALLS = 5_000
"""Number of calls without anything new after which calls are no longer observed."""
_STORING = ("torch.fx._symbolic_trace", "torch._dynamo")
"""Modules that store ``nn.Module.__call__`` or ``nn.Module.__init__`` when they are imported."""


class Observation:
    """Replacement of methods of ``nn.Module``, and its end."""

    def __init__(self, recorder: Recorder, on_change: Callable[[], None]) -> None:
        """
        Args:
            on_change: called now and then while there may be notes that are not saved, and when observation pauses.
        """
        self._recorder = recorder
        self._on_change = on_change
        self._watch: ImportWatch | None = None
        self._module: Any = None
        """``nn.Module``; None until torch is imported."""
        self._init: Any = None
        self._call: Any = None
        self._setstate: Any = None
        self._original_init: Any = None
        self._original_call: Any = None
        self._original_setstate: Any = None
        self.uneventful = count()
        """Number of observed calls since something new was noted."""
        self.noted_call: Callable[..., None] = self._note_call
        self.noted_construction: Callable[..., None] = self._note_construction
        self._news = 0
        self._is_active = False
        self._asks_compiler = False
        self._paused = 0

    def start(self) -> None:
        """Observe from now on; where torch is not imported yet, from the end of its import on."""
        self._is_active = True
        self._watch = ImportWatch({"torch": self._around_torch, **dict.fromkeys(_STORING, self._around_storing)})
        self._watch.start()
        if hasattr(sys.modules.get("torch"), "nn"):
            self._guarded(self._begin)
        if "torch._dynamo" in sys.modules:
            self._guarded(self._ask_compiler)

    def stop(self) -> None:
        """Restore what is replaced, for good."""
        self._is_active = False
        if self._watch is not None:
            self._watch.stop()
        self._guarded(self._restore)
        self._guarded(self._leave_compiler)

    def _leave_compiler(self) -> None:
        if self._asks_compiler:
            self._asks_compiler = False
            callbacks: Any = sys.modules["torch._dynamo.callback"]
            callbacks.callback_handler.remove_start_callback(self._before_compilation)

    @contextmanager
    def _around_torch(self) -> Iterator[None]:
        yield
        self._guarded(self._begin)

    @contextmanager
    def _around_storing(self) -> Iterator[None]:
        self._paused += 1
        self._guarded(self._restore)
        try:
            yield
        finally:
            self._paused -= 1
            self._guarded(self._resume)
            if "torch._dynamo" in sys.modules:
                self._guarded(self._ask_compiler)

    def _begin(self) -> None:
        if self._module is not None or not self._is_active:
            return
        self._module = sys.modules["torch"].nn.Module
        self._original_init, self._original_call = self._module.__init__, self._module.__call__
        self._original_setstate = self._module.__setstate__
        self._init, self._call = self._observing_init(), self._observing_call()
        self._setstate = self._observing_setstate()
        self._resume()

    def _resume(self) -> None:
        if self._module is None or self._paused or not self._is_active:
            return
        if self._module.__init__ is self._original_init:
            self._module.__init__ = self._init
        if self._module.__setstate__ is self._original_setstate:
            self._module.__setstate__ = self._setstate
        self._observe_calls()

    def _observe_calls(self) -> None:
        if not self._recorder.is_watching or self._paused or not self._is_active:
            return
        if self._module.__call__ is self._original_call:
            self._module.__call__ = self._call

    def _restore(self) -> None:
        # What another tool has put in the place of the replacement is its own to restore: torch.compile wraps the
        # constructor that it finds, and calls the replacement, which then only passes on.
        if self._module is not None and self._module.__init__ is self._init:
            self._module.__init__ = self._original_init
        if self._module is not None and self._module.__setstate__ is self._setstate:
            self._module.__setstate__ = self._original_setstate
        self._restore_call()

    def _restore_call(self) -> None:
        if self._module is not None and self._module.__call__ is self._call:
            self._module.__call__ = self._original_call

    # torch.compile

    def _ask_compiler(self) -> None:
        """Be informed of compilations, and have the compiler pass over the replacements as over torch's originals."""
        callbacks: Any = sys.modules["torch._dynamo.callback"]
        callbacks.on_compile_start(self._before_compilation)
        self._asks_compiler = True
        frames: Any = sys.modules["torch._dynamo.eval_frame"]
        disable: Any = sys.modules["torch._dynamo"].disable

        def note_call(*given: Any) -> None:
            self._note_call(*given)

        def note_construction(*given: Any) -> None:
            self._note_construction(*given)

        self.noted_call, self.noted_construction = disable(note_call), disable(note_construction)
        if self._call is not None:
            frames.skip_code(self._call.__code__)
            frames.skip_code(self._init.__code__)
            frames.skip_code(self._setstate.__code__)

    def _before_compilation(self, *_: object) -> None:
        def end() -> None:
            self._is_active = False
            self._restore()
            self._on_change()

        if self._is_active:
            self._guarded(end)

    # The replacements. An error of the recorder costs its note, and never reaches the program.

    def _observing_init(self) -> Any:
        original, observation = self._original_init, self

        @functools.wraps(original)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            # This frame has the arguments where a class has no constructor of its own.
            observation.noted_construction(self, sys._getframe())

        return __init__

    def _observing_setstate(self) -> Any:
        original, observation = self._original_setstate, self

        @functools.wraps(original)
        def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
            original(self, state)
            observation.noted_construction(self, sys._getframe(1), True)

        return __setstate__

    def _observing_call(self) -> Any:
        observation = self
        original = self._original_call
        watched = self._recorder.watched

        @functools.wraps(original)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # No function of the recorder is called for a module that is not watched: torch.compile would compile it.
            if id(self) in watched or next(observation.uneventful) > _UNEVENTFUL_CALLS:
                observation.noted_call(self, args, kwargs, sys._getframe(1))
            return original(self, *args, **kwargs)

        return __call__

    def _note_construction(self, module: Any, frame: Any, is_restored: bool = False) -> None:
        def note() -> None:
            if is_restored:
                self._recorder.note_restored(module, frame)
            else:
                self._recorder.note_construction(module, frame)
            self._count_anew()
            self._observe_calls()

        if self._is_active:
            self._guarded(note)

    def _note_call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> None:
        def note() -> None:
            if id(module) in self._recorder.watched:
                self._recorder.note_call(module, args, kwargs, frame)
            else:
                self._recorder.give_up()
            self._count_anew()
            if not self._recorder.is_watching:
                self._restore_call()
            self._on_change()

        if self._is_active:
            self._guarded(note)

    def _count_anew(self) -> None:
        """Start to count uneventful calls again after news."""
        if self._recorder.news != self._news:
            self._news, self.uneventful = self._recorder.news, count()

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a part of the recorder; its errors must not reach the program that is recorded."""
        try:
            step()
        except Exception:
            # Whatever it is, the program is right to go on: what could not be noted is missing in the recording.
            return
