"""Tree of the modules of one model, with equal modules marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

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
