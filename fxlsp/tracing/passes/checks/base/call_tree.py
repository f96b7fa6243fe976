"""Tree of the module calls of a pass, with modules in variables of the caller."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from ....isolation.replacement import replaced
from ....model.capture.tracer import ModulePathTracer, TracedCall
from ....model.locations.source_map import CallStack


@dataclass(eq=False, slots=True)
class EnteredCall:
    """Module call that a pass entered."""

    module: torch.nn.Module
    caller: EnteredCall | None
    """The call that was running; None in the root's ``forward``."""
    call: TracedCall | None = None
    """What the tracer recorded of it; None for a module that is not registered."""
    variables: Mapping[str, torch.nn.Module] = field(default_factory=dict)
    """The modules among the local variables of the calling function; recorded only for modules with several names."""

    def outer_calls(self) -> Iterator[EnteredCall]:
        """Yield the calls that were running when this one was made, innermost first."""
        outer = self.caller
        while outer is not None:
            yield outer
            outer = outer.caller


class PassCallTree:
    """Module calls of one pass, in the order in which they were entered."""

    def __init__(self) -> None:
        self._sites: list[EnteredCall] = []
        self._running: EnteredCall | None = None

    @contextmanager
    def recording(self, tracer: ModulePathTracer, shared: set[torch.nn.Module]) -> Iterator[None]:
        """Record each call, and for modules in ``shared`` the variables of the caller."""
        original = tracer.call_module

        def call_module(m: torch.nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
            if tracer.evaluating:
                return original(m, forward, args, kwargs)
            before = len(tracer.calls)
            site = EnteredCall(m, self._running)
            self._sites.append(site)
            self._running = site
            try:
                return original(m, forward, args, kwargs)
            finally:
                self._running = site.caller
                if before < len(tracer.calls) and tracer.calls[before].module is m:
                    site.call = tracer.calls[before]
                    site.variables = _variables(sys._getframe(1), site.call.call_stack) if m in shared else {}

        with replaced(tracer, call_module=call_module):
            yield

    def recorded_by(self, tracer: ModulePathTracer) -> Iterator[tuple[EnteredCall, TracedCall]]:
        """Yield the calls that are part of the graph.

        A recovering pass rolls back attempts that failed.
        """
        remaining = {id(call) for call in tracer.calls}
        for site in self._sites:
            if site.call is not None and id(site.call) in remaining:
                yield site, site.call


def _variables(frame: FrameType | None, call_stack: CallStack) -> dict[str, torch.nn.Module]:
    """Return the modules in local variables of the function at the end of ``call_stack``."""
    while frame is not None and not (call_stack and frame.f_code is call_stack[-1].code):
        frame = frame.f_back
    variables = () if frame is None else frame.f_locals.items()
    # By type(): a proxy may answer isinstance() as its value would.
    return {name: value for name, value in variables if issubclass(type(value), torch.nn.Module)}
