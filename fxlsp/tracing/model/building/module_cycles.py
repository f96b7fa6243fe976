"""Modules that are registered below themselves (FX611), most often by a reference to the module that owns them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from ....report.codes import HOLDS_ITSELF
from ....report.problems import Failure
from ..locations.source_map import SourceMap
from .construction import Constructions


def module_cycle(
    model: torch.nn.Module, target: str, constructions: Constructions, source_map: SourceMap
) -> Failure | None:
    """Return the failure of a built model in which a module is registered below itself, at the reference back.

    ``forward`` may run, but whatever goes down the tree of modules never ends: ``to``, ``eval``, ``state_dict``,
    ``torch.fx.Tracer.trace``.
    """
    cycle = _first_cycle(model)
    if not cycle:
        return None
    owner, name, held = cycle[-1]
    way = ".".join(each.name for each in cycle[:-1])
    holds = f"the {type(held).__name__} that holds it as `{way}`" if way else "itself"
    registered = constructions.registrations.of(owner, name)
    written = None if registered is None else registered.written.innermost
    return Failure(
        target,
        HOLDS_ITSELF,
        f"`{name}` of this {type(owner).__name__} is {holds}: with a module that is registered below itself `to()`, "
        "`eval()`, `state_dict()`, printing and torch.fx end in a RecursionError",
        source_map.of_class(type(owner)) if written is None else source_map.locate(written.code, written.offset),
    )


class _Child(NamedTuple):
    owner: torch.nn.Module
    name: str
    module: torch.nn.Module


def _first_cycle(model: torch.nn.Module) -> list[_Child]:
    """Return the children that lead from a module to itself, empty if there is none.

    The last one is a module that was found earlier on the way from ``model``.
    """
    above: list[_Child] = []
    entered, left = {id(model)}, set[int]()
    waiting = [_children(model)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            left.update(id(each.module) for each in above[-1:])
            del above[-1:]
        elif id(child.module) not in entered:
            entered.add(id(child.module))
            above.append(child)
            waiting.append(_children(child.module))
        elif id(child.module) not in left:
            path = [*above, child]
            return path[[each.owner is child.module for each in path].index(True) :]
    return []


def _children(module: torch.nn.Module) -> Iterator[_Child]:
    # A scripted module has its children elsewhere.
    held = vars(module).get("_modules") or {}
    return (_Child(module, name, child) for name, child in held.items() if child is not None)
