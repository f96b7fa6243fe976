"""Parameters with several names (FX205): FX records the first, whichever was used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from .....report.codes import TIED_PARAMETER
from .....report.locations import RelatedPlace
from .....report.problems import Problem
from ....model import module_tree
from ..base.check import Check
from ..base.module_names import OriginPlaces, joined, listed, registration_of
from ..base.pass_result import PassResult


@dataclass(frozen=True)
class _Name:
    """One name of a parameter: its owner, and where it was registered."""

    owner_path: str
    owner: torch.nn.Module
    name: str

    def __str__(self) -> str:
        return joined(self.owner_path, self.name)

    def time(self, traced: PassResult) -> int:
        registration = traced.constructions.registrations.of(self.owner, self.name)
        return 0 if registration is None else registration.order

    def written(self, traced: PassResult) -> OriginPlaces | None:
        return registration_of(self.owner, self.name, traced)


class TiedParameters(Check):
    """Check of the registrations; parameters of a shared module are reported there."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        held: dict[int, list[_Name]] = {}
        for path, module in module_tree.named_modules(traced.root):
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    held.setdefault(id(parameter), []).append(_Name(path, module, name))
        for names in held.values():
            if len(names) > 1:
                yield from self._tied(names, traced)

    def _tied(self, names: list[_Name], traced: PassResult) -> Iterator[Problem]:
        # The last registration made them one parameter.
        last = max(names, key=lambda name: name.time(traced))
        tied = last.written(traced)
        if tied is None:
            return
        related = ((name, name.written(traced)) for name in names if name is not last)
        yield traced.problem(
            TIED_PARAMETER,
            f"{listed([str(name) for name in names])} are one parameter: torch.fx and named_parameters() know it as "
            f"{names[0]} alone.",
            tied.own,
            names[0].owner_path,
            tuple(RelatedPlace(f"{name} is registered here", at.innermost) for name, at in related if at is not None),
        )
