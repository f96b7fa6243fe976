"""Losses of logits that are given probabilities (FX606)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.nn import functional

from .....report.codes import LOSS_OF_PROBABILITIES
from .....report.locations import RelatedPlace
from .....report.problems import Problem
from ....model import module_tree
from ..base.check import Check
from ..base.pass_result import PassResult

# log_softmax before cross_entropy changes nothing, because log_softmax of its own result is that result.
_ACTIVATIONS: Mapping[object, str] = {
    **dict.fromkeys((functional.softmax, torch.softmax, torch.nn.Softmax, "softmax"), "softmax"),
    **dict.fromkeys((functional.sigmoid, torch.sigmoid, torch.nn.Sigmoid, "sigmoid"), "sigmoid"),
}
"""Names of activations by function, class and method."""
_LOSSES: Mapping[object, tuple[str, str, str]] = {
    **dict.fromkeys(
        (functional.cross_entropy, torch.nn.CrossEntropyLoss),
        ("softmax", "cross_entropy", "it applies log_softmax itself, so it needs the values before softmax"),
    ),
    **dict.fromkeys(
        (functional.nll_loss, torch.nn.NLLLoss),
        ("softmax", "nll_loss", "it needs logarithms of probabilities, which log_softmax computes"),
    ),
    **dict.fromkeys(
        (functional.binary_cross_entropy_with_logits, torch.nn.BCEWithLogitsLoss),
        (
            "sigmoid",
            "binary_cross_entropy_with_logits",
            "it applies sigmoid itself, so it needs the values before sigmoid",
        ),
    ),
}
"""For each loss: the activation that must not come before it, its name, and why."""


class LossesOfProbabilities(Check):
    """Check of the finished graph: the input of a loss comes directly from an activation."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        modules = dict(module_tree.named_modules(traced.root, remove_duplicate=False))
        for node in traced.tracer.graph.nodes:
            loss = _LOSSES.get(_operation(node, modules))
            given = _first_input(node)
            if loss is None or given is None:
                continue
            activation, name, reason = loss
            if _ACTIVATIONS.get(_operation(given, modules)) == activation:
                yield self._problem(traced, node, given, f"{name} is given the result of {activation}: {reason}.")

    def _problem(self, traced: PassResult, loss: torch.fx.Node, given: torch.fx.Node, message: str) -> Problem:
        origins = traced.tracer.origins
        place = traced.problem_location(origins[loss].call_stack)
        applied = traced.problem_location(origins[given].call_stack)
        related = () if applied is None else (RelatedPlace("it is applied here", applied),)
        return traced.problem(LOSS_OF_PROBABILITIES, message, place, origins[loss].module_path, related)


def _operation(node: torch.fx.Node, modules: Mapping[str, torch.nn.Module]) -> object:
    """Return what a node calls: a function, the name of a method, or the class of a module."""
    if node.op == "call_module":
        return type(modules.get(str(node.target)))
    return node.target if node.op in ("call_function", "call_method") else None


def _first_input(node: torch.fx.Node) -> torch.fx.Node | None:
    given: Any = node.args[0] if node.args else node.kwargs.get("input")
    return given if isinstance(given, torch.fx.Node) else None
