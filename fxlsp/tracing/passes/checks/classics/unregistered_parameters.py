"""Tensors that are meant to be trained and are no parameters of the model (FX602)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from .....report.codes import PARAMETER_NOT_REGISTERED
from .....report.problems import Problem
from ....model import module_tree
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.class_text import Method, methods_of
from ..base.check import Check
from ..base.executed_functions import function_key
from ..base.pass_result import PassResult
from ..unused.attribute_reads import AttributeReads, is_of_torch
from .container_attributes import AttributeText, attribute_text, container_attributes

_OF_LAYERS = frozenset(("weight", "bias"))
"""Attributes of torch's layers: code that reads them of another object does not mean this one."""
_CONSEQUENCES = "not in parameters(), not trained, not saved, not moved by .to()"


@dataclass(frozen=True)
class _Candidate:
    """Attribute that holds unregistered tensors which require a gradient."""

    owner: torch.nn.Module
    path: str
    name: str
    reason: str
    """Beginning of a sentence that follows the attribute's name."""
    remedy: str


class UnregisteredParameters(Check):
    """Check of the model as it is before the pass, and of the code that reads the attributes.

    Only what ``forward`` reads and no other code is reported: that may be given to an optimizer by itself.
    """

    def __init__(self) -> None:
        self._candidates: list[_Candidate] = []

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._candidates = list(_candidates(root))
        yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        reads = AttributeReads(traced.root, traced.places)
        for candidate in self._candidates:
            written = attribute_text(candidate.owner, candidate.name, traced.places)
            if written is None or not written.makes_items or not _is_used_by_forward_alone(candidate, traced):
                continue
            if candidate.name in _OF_LAYERS or not reads.is_read_elsewhere(candidate.name):
                yield self._problem(candidate, written, traced)

    def _problem(self, candidate: _Candidate, written: AttributeText, traced: PassResult) -> Problem:
        return traced.problem(
            PARAMETER_NOT_REGISTERED,
            f"{written.method.self_name}.{candidate.name} {candidate.reason}: {_CONSEQUENCES}. {candidate.remedy}.",
            written.method.location(written.target),
            candidate.path,
        )


def _candidates(root: torch.nn.Module) -> Iterator[_Candidate]:
    registered = {id(parameter) for parameter in module_tree.parameters(root)}

    def is_lacking(parameter: torch.nn.Parameter) -> bool:
        return parameter.requires_grad and id(parameter) not in registered

    for path, owner in module_tree.named_modules(root):
        if is_of_torch(type(owner)):
            continue
        for name, value in list(vars(owner).items()):
            if isinstance(value, torch.Tensor) and value.requires_grad and id(value) not in registered:
                yield from _of_tensor(owner, path, name, value, registered)
        for holder in container_attributes(owner, path, torch.nn.Parameter, is_lacking):
            kind = "ParameterDict" if holder.is_dict else "ParameterList"
            count = len(holder.items)
            whose = "whose parameter is" if count == 1 else f"whose {count} parameters are"
            yield _Candidate(
                owner, path, holder.name, f"is a {holder.kind}, {whose} not registered", f"nn.{kind} registers them"
            )


def _of_tensor(
    owner: torch.nn.Module, path: str, name: str, tensor: torch.Tensor, registered: set[int]
) -> Iterator[_Candidate]:
    if tensor.is_leaf:
        reason = "is a plain tensor with requires_grad, and no parameter"
        yield _Candidate(owner, path, name, reason, "nn.Parameter registers it")
        return
    leaves = list(_leaves(tensor.grad_fn))
    if leaves and not any(id(leaf) in registered for leaf in leaves):
        reason = "is computed from a parameter that is not registered"
        yield _Candidate(owner, path, name, reason, "Assign the nn.Parameter itself, and compute with it in forward")


def _leaves(function: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors from which the result of an autograd function was computed."""
    waiting, seen = [function], set()
    while waiting:
        current = waiting.pop()
        if current is not None and current not in seen:
            seen.add(current)
            variable = getattr(current, "variable", None)
            if isinstance(variable, torch.Tensor):
                yield variable
            waiting += [each for each, _ in current.next_functions]


def _is_used_by_forward_alone(candidate: _Candidate, traced: PassResult) -> bool:
    """Return whether methods that ran read the attribute, and others only to initialise it."""
    methods = methods_of(type(candidate.owner), traced.places)
    ran = {function.key for function in traced.executed.reachable}
    initialising = {"__init__", *_called_by_constructors(methods)}
    readers = [method for method in methods if any(method.is_own(node, candidate.name) for node in method.nodes)]
    used = [method for method in readers if function_key(method.code) in ran]
    return bool(used) and all(method in used or method.name in initialising for method in readers)


def _called_by_constructors(methods: list[Method]) -> Iterator[str]:
    for method in methods:
        if method.name == "__init__":
            yield from (node.attr for node in method.attributes(ast.Load))
