"""All names of all modules, and by which of them a call reaches its module.

A module that is registered twice has two names, and so has everything below it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

import torch

from .....report.locations import Location, RelatedPlace
from ....model import module_tree
from ....model.building.registrations import RunningCode
from ....model.capture.tracer import TracedCall
from ....model.locations.bytecode.instructions import Instruction
from .call_tree import EnteredCall
from .pass_result import PassResult

_SHOWN = 3


class ModuleNames:
    """The names of the modules of a model as it is now."""

    def __init__(self, root: torch.nn.Module) -> None:
        self._root = root
        self._registered: dict[torch.nn.Module, int] = {}
        for module in module_tree.modules(root):
            for child in module._modules.values():
                if child is not None:
                    self._registered[child] = self._registered.get(child, 0) + 1

    def is_registered(self, module: torch.nn.Module) -> bool:
        """Return whether the module is below the root."""
        return module in self._registered

    def is_registered_twice(self, module: torch.nn.Module) -> bool:
        """Return whether its own registrations give it several names.

        False if only registrations of a module above it do.
        """
        return self._registered.get(module, 0) > 1

    @cached_property
    def shared(self) -> set[torch.nn.Module]:
        """The modules that have several names and contain parameters or buffers."""
        twice = [module for module, times in self._registered.items() if times > 1]
        below = {module: None for shared in twice for module in module_tree.modules(shared)}
        return {module for module in below if kind_of_state(module) is not None}

    @cached_property
    def _paths(self) -> dict[torch.nn.Module, list[str]]:
        paths: dict[torch.nn.Module, list[str]] = {}
        for path, module in module_tree.named_modules(self._root, remove_duplicate=False):
            paths.setdefault(module, []).append(path)
        return paths

    @cached_property
    def _modules(self) -> dict[str, torch.nn.Module]:
        return {path: module for module, paths in self._paths.items() for path in paths}

    def of(self, module: torch.nn.Module) -> list[str]:
        """Return all its names, the one that FX gives it first; [] if not registered."""
        return self._paths.get(module, [])

    def at(self, path: str) -> torch.nn.Module | None:
        """Return the module of this name."""
        return self._modules.get(path)

    def registrations(self, module: torch.nn.Module, traced: PassResult) -> tuple[RelatedPlace, ...]:
        """Return the source locations that gave it its names."""
        places: dict[Location, list[str]] = {}
        for path in self.of(module):
            written = self._registration(path, traced)
            if written is not None:
                places.setdefault(written.innermost, []).append(path)
        return tuple(RelatedPlace(f"registered as {listed(paths)}", place) for place, paths in places.items())

    def _registration(self, path: str, traced: PassResult) -> OriginPlaces | None:
        """Return where the part of ``path`` that has another name too was registered."""
        module = self.at(path)
        while path and module is not None and not self.is_registered_twice(module):
            path = path.rpartition(".")[0]
            module = self.at(path)
        owner = self.at(path.rpartition(".")[0])
        return None if owner is None else registration_of(owner, path.rpartition(".")[2], traced)


@dataclass(frozen=True)
class OriginPlaces:
    """Locations where something was constructed or registered."""

    own: Location
    """The innermost in the workspace, else ``innermost``; the location of a problem."""
    innermost: Location
    """The innermost in any code; the location of a related place."""

    @classmethod
    def at(cls, running: RunningCode | None, traced: PassResult) -> OriginPlaces | None:
        if running is None:
            return None
        locate = traced.places.locate
        own, innermost = running.of_workspace, running.innermost
        return cls(locate(own.code, own.offset), locate(innermost.code, innermost.offset))


def registration_of(owner: torch.nn.Module, name: str, traced: PassResult) -> OriginPlaces | None:
    """Return where ``name`` was registered in ``owner``.

    For what ``owner`` registers itself, where ``owner`` was constructed.
    """
    registered = traced.constructions.registrations.of(owner, name)
    return OriginPlaces.at(traced.constructions.written(owner) if registered is None else registered.written, traced)


def kind_of_state(module: torch.nn.Module) -> str | None:
    """Return ``parameters`` or ``buffers`` if the module has any, else None.

    Modules below it count.
    """
    if next(module_tree.parameters(module), None) is not None:
        return "parameters"
    return None if next(module_tree.buffers(module), None) is None else "buffers"


def joined(path: str, name: str) -> str:
    """Return the path of ``name`` below ``path``."""
    return f"{path}.{name}" if path and name else path or name


def listed(names: list[str]) -> str:
    """Return ``a, b and c``, or the first names and how many more there are."""
    shown = names if len(names) <= _SHOWN + 1 else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


_Step = str | int


def called_names(traced: PassResult, names: ModuleNames, call: TracedCall, site: EnteredCall) -> tuple[str, ...]:
    """Return the names of a module that the text of a call denotes; may be empty.

    Several if the module whose attribute is called has several names itself: ``self.lin(x)`` in the ``forward`` of a
    module that is both ``a`` and ``b`` denotes ``a.lin`` as much as ``b.lin``.
    """
    callee = _callee(traced, call.call_stack[-1]) if call.call_stack else None
    if callee is not None:
        name, steps = callee
        start = site.variables.get(name)
        if start is not None and steps:
            below = _path_below(start, steps)
            if below is not None and below[1] is call.module:
                return tuple(joined(path, below[0]) for path in names.of(start))
    return _name_by_tracer(names, call)


def _callee(traced: PassResult, instruction: Instruction) -> tuple[str, list[_Step]] | None:
    """Return ``self`` and the steps of ``self.blocks[0].lin(x)``, else None."""
    node = traced.places.syntax_of(instruction)
    steps: list[_Step] = []
    expression = node.func if isinstance(node, ast.Call) else None
    while True:
        match expression:
            case ast.Attribute(value=value, attr=name):
                steps.append(name)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() | int() as index)):
                steps.append(index)
            case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index)))):
                steps.append(-index)
            case ast.Name(id=name):
                return name, steps[::-1]
            case _:
                return None
        expression = value


def _path_below(module: torch.nn.Module, steps: list[_Step]) -> tuple[str, torch.nn.Module] | None:
    """Return path and module that ``steps`` lead to; None if a step is no child."""
    path = ""
    for step in steps:
        name = _child_name(module, step)
        child = module._modules.get(name)
        if child is None:
            return None
        path, module = joined(path, name), child
    return path, module


def _child_name(module: torch.nn.Module, step: _Step) -> str:
    """Return a child's name for an attribute, key or index; "" if out of range."""
    if isinstance(step, str):
        return step
    children = list(module._modules)
    return children[step] if -len(children) <= step < len(children) else ""


def _name_by_tracer(names: ModuleNames, call: TracedCall) -> tuple[str, ...]:
    """Return the name that the tracer derived from the attributes that were read.

    Empty, or the registered name, where a module above it explains the difference.
    """
    here, known = call.call_path, call.module_path
    if here is None or here == known:
        return () if here is None else (here,)
    while here.rpartition(".")[2] == known.rpartition(".")[2]:
        here, known = here.rpartition(".")[0], known.rpartition(".")[0]
        if names.at(here) is names.at(known):
            return (call.module_path,)
    return (call.call_path,) if call.call_path is not None else ()
