"""Every name of every module: one that is registered twice has two, and so has all that is below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from ....report.locations import Location, RelatedPlace
from ...building.registrations import RunningCode
from .pass_result import Traced

_SHOWN = 3


class ModuleNames:
    """The names of the modules of a model as it is now."""

    def __init__(self, root: torch.nn.Module) -> None:
        self._root = root
        self._registered: dict[torch.nn.Module, int] = {}
        for module in root.modules():
            for child in module._modules.values():
                if child is not None:
                    self._registered[child] = self._registered.get(child, 0) + 1

    def is_registered(self, module: torch.nn.Module) -> bool:
        """Whether it is below the root."""
        return module in self._registered

    def is_registered_twice(self, module: torch.nn.Module) -> bool:
        """Whether its own registrations give it several names, and not only those of a module above it."""
        return self._registered.get(module, 0) > 1

    @cached_property
    def shared(self) -> set[torch.nn.Module]:
        """The modules that have several names and hold parameters or buffers."""
        twice = [module for module, times in self._registered.items() if times > 1]
        below = {module: None for shared in twice for module in shared.modules()}
        return {module for module in below if kind_of_state(module) is not None}

    @cached_property
    def _paths(self) -> dict[torch.nn.Module, list[str]]:
        paths: dict[torch.nn.Module, list[str]] = {}
        for path, module in self._root.named_modules(remove_duplicate=False):
            paths.setdefault(module, []).append(path)
        return paths

    @cached_property
    def _modules(self) -> dict[str, torch.nn.Module]:
        return {path: module for module, paths in self._paths.items() for path in paths}

    def of(self, module: torch.nn.Module) -> list[str]:
        """All its names, the one that FX gives it first; none if it is not registered."""
        return self._paths.get(module, [])

    def at(self, path: str) -> torch.nn.Module | None:
        """The module of this name."""
        return self._modules.get(path)

    def registrations(self, module: torch.nn.Module, traced: Traced) -> tuple[RelatedPlace, ...]:
        """The places that gave it its names."""
        places: dict[Location, list[str]] = {}
        for path in self.of(module):
            written = self._registration(path, traced)
            if written is not None:
                places.setdefault(written.innermost, []).append(path)
        return tuple(RelatedPlace(f"registered as {listed(paths)}", place) for place, paths in places.items())

    def _registration(self, path: str, traced: Traced) -> Written | None:
        """Where the part of ``path`` was registered that has another name too."""
        module = self.at(path)
        while path and module is not None and not self.is_registered_twice(module):
            path = path.rpartition(".")[0]
            module = self.at(path)
        owner = self.at(path.rpartition(".")[0])
        return None if owner is None else registration_of(owner, path.rpartition(".")[2], traced)


@dataclass(frozen=True)
class Written:
    """Where something was constructed or registered."""

    own: Location
    """In the workspace, else as ``innermost``: where a problem stands."""
    innermost: Location
    """In whatever code did it: what a related place shows."""

    @classmethod
    def at(cls, running: RunningCode | None, traced: Traced) -> Written | None:
        if running is None:
            return None
        locate = traced.places.locate
        own, innermost = running.of_workspace, running.innermost
        return cls(locate(own.code, own.offset), locate(innermost.code, innermost.offset))


def registration_of(owner: torch.nn.Module, name: str, traced: Traced) -> Written | None:
    """Where ``name`` was registered in ``owner``; where ``owner`` was made, for what it made by itself."""
    noted = traced.constructions.registrations.of(owner, name)
    return Written.at(traced.constructions.written(owner) if noted is None else noted.written, traced)


def kind_of_state(module: torch.nn.Module) -> str | None:
    """``parameters`` or ``buffers`` where the module holds any, itself or below; None for what has no state."""
    if next(module.parameters(), None) is not None:
        return "parameters"
    return None if next(module.buffers(), None) is None else "buffers"


def joined(path: str, name: str) -> str:
    """A path below another."""
    return f"{path}.{name}" if path and name else path or name


def listed(names: list[str]) -> str:
    """``a, b and c``, or the first of many and how many more."""
    shown = names if len(names) <= _SHOWN + 1 else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
