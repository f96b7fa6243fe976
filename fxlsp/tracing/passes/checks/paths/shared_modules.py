"""Modules with state called by several names (FX204) or several times (FX206).

FX knows one path for each module. Where the code that calls it names another, or where several calls have the same one,
the path of a node does not identify the call. A module without state does the same wherever it is called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import torch

from .....report.codes import AMBIGUOUS_PATH, CALLED_AGAIN
from .....report.locations import Location, RelatedPlace
from .....report.problems import Problem
from ....model.capture.tracer import ModulePathTracer, TracedCall
from ..base.call_tree import EnteredCall, PassCallTree
from ..base.check import Check
from ..base.module_names import ModuleNames, called_names, kind_of_state, listed
from ..base.pass_result import PassResult


class SharedModules(Check):
    """Check for FX204 and FX206.

    A call that is ambiguous is not reported as a repeated one too.
    """

    def __init__(self) -> None:
        self._tree = PassCallTree()

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._names = ModuleNames(root)
        with self._tree.recording(tracer, self._names.shared):
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        calls: dict[torch.nn.Module, list[_Call]] = defaultdict(list)
        for site, call in self._tree.recorded_by(traced.tracer):
            calls[site.module].append(_Call(site, call, traced, self._names))
        for module, its_calls in calls.items():
            if not self._names.is_registered(module):
                # It has no path at all, which the recovering pass reports.
                continue
            shared = _SharedModule(module, its_calls, traced, self._names)
            if module in self._names.shared:
                yield from shared.ambiguous()
            if len(its_calls) > 1 and kind_of_state(module) is not None:
                yield from shared.repeated()


class _Call:
    """One call of a module."""

    def __init__(self, site: EnteredCall, call: TracedCall, traced: PassResult, names: ModuleNames) -> None:
        self.site = site
        self.traced = call
        self._names = names
        self._pass = traced

    @cached_property
    def place(self) -> Location | None:
        return self._pass.problem_location(self.traced.call_stack)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that its text denotes; empty if unknown."""
        return called_names(self._pass, self._names, self.traced, self.site)

    def follows(self, first: _Call) -> bool:
        """Return whether it repeats ``first`` only since an outer module is called again.

        That outer call is the one to report.
        """
        outside_first = list(first.site.outer_calls())
        called_before = {site.module for site in outside_first}
        return any(site.module in called_before for site in self.site.outer_calls() if site not in outside_first)


class _SharedModule:
    """A module and all its calls."""

    def __init__(self, module: torch.nn.Module, calls: list[_Call], traced: PassResult, names: ModuleNames) -> None:
        self._module = module
        self._calls = calls
        self._traced = traced
        self._names = names
        self._type = type(module).__name__
        self._path = calls[0].traced.module_path

    def ambiguous(self) -> Iterator[Problem]:
        """Yield the ambiguous calls (FX204)."""
        by_place: dict[Location | None, list[str]] = defaultdict(list)
        for call in self._through_another_name:
            if call.names[0] not in by_place[call.place]:
                by_place[call.place].append(call.names[0])
        for place, names in by_place.items():
            yield self._ambiguous(place, f"this call of {listed(names)} under the path {self._path}: these names")
        names = self._names.of(self._module)
        for place in dict.fromkeys(call.place for call in self._over_container):
            yield self._ambiguous(place, f"each of these calls under the path {self._path}: {listed(names)}")

    def _ambiguous(self, place: Location | None, what: str) -> Problem:
        message = f"torch.fx records {what} are one {self._type}, of which FX knows the first name alone."
        return self._problem(AMBIGUOUS_PATH, message, place, self._names.registrations(self._module, self._traced))

    @cached_property
    def _through_another_name(self) -> list[_Call]:
        """The calls that reach the module by a name that FX does not give it."""
        return [call for call in self._calls if call.names and self._path not in call.names]

    @cached_property
    def _over_container(self) -> list[_Call]:
        """Calls in a loop over a container that holds the module under several names.

        Each stands for one of these names.
        """
        owners = [name.rpartition(".")[0] for name in self._names.of(self._module)]
        if not self._names.is_registered_twice(self._module) or len(set(owners)) == len(owners):
            return []
        loops: dict[object, list[_Call]] = defaultdict(list)
        for call in self._calls:
            if call.traced.call_stack and not call.names:
                loops[call.site.caller, call.traced.call_stack[-1]].append(call)
        return [call for loop in loops.values() if len(loop) > 1 for call in loop]

    def repeated(self) -> Iterator[Problem]:
        """Yield the repeated calls (FX206)."""
        first = self._calls[0]
        shared = self._module in self._names.shared
        ambiguous = {*self._through_another_name, *self._over_container} if shared else set()
        again = (call for call in self._calls[1:] if call not in ambiguous and not call.follows(first))
        for place in dict.fromkeys(call.place for call in again):
            yield self._again(place, first.place)

    def _again(self, place: Location | None, first: Location | None) -> Problem:
        kind = kind_of_state(self._module)
        shared = f"torch.fx gives all calls of this {self._type} one path, and they share its {kind}."
        if first == place or first is None:
            return self._problem(CALLED_AGAIN, f"{self._path} is called several times here: {shared}", place)
        related = (RelatedPlace("first called here", first),)
        return self._problem(CALLED_AGAIN, f"{self._path} is called again here: {shared}", place, related)

    def _problem(
        self, code: str, message: str, place: Location | None, related: tuple[RelatedPlace, ...] = ()
    ) -> Problem:
        return self._traced.problem(code, message, place, self._path, related)
