"""Modules of one trace: their tree with equal ones marked, which calls ran, and what they cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.report.graph import Module
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span

_FEWEST_ALIKE = 3
"""Smallest number of equal neighbours in a container that are shown as one row."""


@dataclass(eq=False, slots=True)
class Registered:
    """A module with the modules registered in it."""

    module: Module
    children: list[Registered] = field(default_factory=list)
    form: int = 0
    """Equal for modules of one model that have the same classes, arguments and names below them."""

    @property
    def name(self) -> str:
        """The last part of its path; "" for the root."""
        return self.module.path.rpartition(".")[2]


def place_of_module(module: Module) -> Location | None:
    """Return the line that registered a module.

    If the expression that constructed the module is part of it, that expression.
    """
    registration, made = module.registration, module.location
    if registration is None or made is None or made.file != registration.file:
        return registration or made
    return made if Span.of(registration).encloses(Span.of(made)) else registration


def module_tree(report: Report) -> Mapping[str, Registered]:
    """Return every module of the report with its children, by path."""
    found: dict[str, Registered] = {}
    for module in report.modules:
        found[module.path] = Registered(module)
        above = found.get(module.path.rpartition(".")[0]) if module.path else None
        if above is not None:
            above.children.append(found[module.path])
    forms: dict[object, int] = {}
    # Parents come first in a report, so in reverse order every child has its form before its parent needs it.
    for each in reversed(list(found.values())):
        below = tuple((child.name, child.form) for child in each.children)
        each.form = forms.setdefault((each.module.type, each.module.arguments, below), len(forms))
    return found


def rows(children: Sequence[Registered]) -> Iterator[Sequence[Registered]]:
    """Yield the children in order, equal neighbours in a container together."""
    for _, group in groupby(children, key=lambda child: (child.name.isdecimal(), child.form)):
        alike = list(group)
        if len(alike) >= _FEWEST_ALIKE and alike[0].name.isdecimal():
            yield alike
        else:
            yield from ([each] for each in alike)


class ModuleUsage:
    """Use of each module, by module path."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def made_in(self, file: str) -> Mapping[Span, tuple[Module, ...]]:
        """Return the modules that each expression of ``file`` constructed.

        The spans are in the text that was traced.
        """
        return self._made.get(file, {})

    def calls_of(self, path: str) -> tuple[Event, ...]:
        """Return the calls of one module; for a leaf its nodes, which have more facts."""
        return self._calls.get(path, ())

    def ran(self, module: Module) -> bool:
        """Return whether the module was called, or a module below it."""
        return module.calls > 0 or module.path in self._flops_below

    def flops_below(self, path: str) -> int | None:
        """Return the FLOPs of the nodes in a module or below it; None if one is unknown."""
        return self._flops_below.get(path, 0)

    def flops_in(self, path: str) -> int | None:
        """Return the FLOPs of the nodes in a module itself; None if one is unknown."""
        return self._flops_in.get(path, 0)

    @cached_property
    def _made(self) -> Mapping[str, Mapping[Span, tuple[Module, ...]]]:
        files: dict[str, dict[Span, tuple[Module, ...]]] = defaultdict(dict)
        for module in self._report.modules:
            if module.location is not None:
                made, span = files[module.location.file], Span.of(module.location)
                made[span] = (*made.get(span, ()), module)
        return files

    @cached_property
    def _calls(self) -> Mapping[str, tuple[Event, ...]]:
        events: dict[str, tuple[Event, ...]] = defaultdict(tuple)
        for call in self._report.calls:
            if not call.leaf:
                events[call.module_path] += (Event(call, call.first_node, max(call.first_node, call.end_node)),)
        for index, node in enumerate(self._report.nodes):
            if node.op == "call_module" and node.module_path is not None:
                events[node.module_path] += (Event(node, index, index + 1),)
        return events

    @cached_property
    def _flops_in(self) -> Mapping[str, int | None]:
        sums: dict[str, int | None] = {}
        for node in self._report.nodes:
            if node.module_path is not None and node.op not in ("placeholder", "output"):
                sums[node.module_path] = _plus(sums.get(node.module_path, 0), node.flops)
        return sums

    @cached_property
    def _flops_below(self) -> Mapping[str, int | None]:
        sums: dict[str, int | None] = {}
        for path, flops in self._flops_in.items():
            parts = path.split(".") if path else []
            for length in range(len(parts) + 1):
                above = ".".join(parts[:length])
                sums[above] = _plus(sums.get(above, 0), flops)
        return sums


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
