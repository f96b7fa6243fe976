"""Modules in a Python list, tuple or dict that nothing registers (FX601)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from .....report.codes import MODULES_NOT_REGISTERED
from .....report.locations import RelatedPlace
from .....report.problems import Problem
from ....isolation.torch_private.layers import DROPOUTS
from ....model import module_tree
from ....model.capture.tracer import ModulePathTracer
from ..base.check import Check
from ..base.module_names import joined, kind_of_state
from ..base.pass_result import PassResult
from ..unused.attribute_reads import is_of_torch
from .container_attributes import AttributeText, ContainerAttribute, attribute_text, container_attributes

_Holder = ContainerAttribute[torch.nn.Module]


class UnregisteredModules(Check):
    """Check of the model as it is before the pass.

    A module from outside the model may be registered by the code that made it. What ``forward`` makes is FX203.
    """

    def __init__(self) -> None:
        self._holders: list[_Holder] = []

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._holders = list(_holders(root))
        yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for holder in self._holders:
            written = attribute_text(holder.owner, holder.name, traced.places)
            if written is not None and _is_meant_as_part(holder, written, traced):
                yield self._problem(holder, written, traced)

    def _problem(self, holder: _Holder, written: AttributeText, traced: PassResult) -> Problem:
        return traced.problem(
            MODULES_NOT_REGISTERED,
            f"{_counted(holder)} of {written.method.self_name}.{holder.name} {_are(holder)} not registered, because a "
            f"{holder.kind} holds {'it' if len(holder.items) == 1 else 'them'}: {_consequences(holder)}. "
            f"nn.{'ModuleDict' if holder.is_dict else 'ModuleList'} registers them.",
            written.method.location(written.target),
            holder.path,
            tuple(_first_call(holder, traced)),
        )


def _holders(root: torch.nn.Module) -> Iterator[_Holder]:
    """Yield the attributes that hold modules below no registered name, each module once."""
    known = set(module_tree.modules(root))

    def is_unknown(module: torch.nn.Module) -> bool:
        return module not in known

    waiting = list(module_tree.named_modules(root))
    for path, owner in waiting:
        if is_of_torch(type(owner)):
            continue
        for holder in container_attributes(owner, path, torch.nn.Module, is_unknown):
            # A module with its own list of modules is reported for that list too.
            below = [each for module in holder.items for each in module_tree.modules(module) if is_unknown(each)]
            waiting += ((joined(path, holder.name), module) for module in below)
            known.update(below)
            yield holder


def _is_meant_as_part(holder: _Holder, written: AttributeText, traced: PassResult) -> bool:
    """Return whether the model made the modules, and they have a state that registration would reach."""
    if not any(_has_state(module) for module in holder.items) or (written.hides_one and len(holder.items) == 1):
        return False
    if len(holder.items) == 1 and _is_frozen(holder.items[0]):
        return False
    orders = [traced.constructions.order(module) for module in holder.items]
    root, owner = traced.constructions.order(traced.root), traced.constructions.order(holder.owner)
    start = root if root is not None else owner
    made = [order for order in orders if order is not None]
    if start is not None and made:
        return max(made) > start
    # Copies have no record of their construction.
    return written.makes_items


def _has_state(module: torch.nn.Module) -> bool:
    return kind_of_state(module) is not None or _drops_out(module)


def _drops_out(module: torch.nn.Module) -> bool:
    return any(isinstance(each, DROPOUTS) for each in module_tree.modules(module))


def _is_frozen(module: torch.nn.Module) -> bool:
    owned = list(module_tree.parameters(module))
    return bool(owned) and not any(parameter.requires_grad for parameter in owned)


def _counted(holder: _Holder) -> str:
    if len(holder.items) == 1:
        return f"The {type(holder.items[0]).__name__}"
    return f"{len(holder.items)} modules"


def _are(holder: _Holder) -> str:
    return "is" if len(holder.items) == 1 else "are"


def _consequences(holder: _Holder) -> str:
    """Return what a model does not do with the modules."""
    if not any(kind_of_state(module) for module in holder.items):
        return "train() and eval() do not reach their dropout"
    if not any(any(True for _ in module_tree.parameters(module)) for module in holder.items):
        return "not saved, not moved by .to()"
    trained = "" if all(_is_frozen(module) for module in holder.items) else "not trained, "
    return f"not in parameters(), {trained}not saved, not moved by .to()"


def _first_call(holder: _Holder, traced: PassResult) -> Iterator[RelatedPlace]:
    for call in traced.tracer.calls:
        if call.module in holder.items:
            place = traced.problem_location(call.call_stack)
            if place is not None:
                yield RelatedPlace(f"this {type(call.module).__name__} is called here", place)
                return
