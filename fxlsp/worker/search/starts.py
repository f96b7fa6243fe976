"""Trials with which a search begins: none of a failure's suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch

from .priors.inputs import lists_of_inputs, other_inputs
from .size_edits import one_step
from .values import Group, Guess, Open, Origin, Size, Tensor, Trial, edited

UNIFORM = 4
"""Where distinct sizes lead nowhere everything has this one: what was to be equal then is."""


def starting(trial: Trial, name: str) -> Trial:
    """Return a trial that no failure suggested."""
    return replace(trial, origin=Origin((*trial.origin.rules, name)))


def alike(part: Guess) -> Guess:
    """Return the part with the size that everything has."""
    if isinstance(part, Open):
        return replace(part, size=UNIFORM)
    if isinstance(part, Size):
        return Size(UNIFORM)
    if isinstance(part, Tensor):
        return replace(part, shape=(UNIFORM,) * 4)
    if isinstance(part, Group):
        return replace(part, items=tuple((key, alike(inner)) for key, inner in part.items))
    return part


def other_starts(trial: Trial, given: Group, others: Iterable[Group], model: torch.nn.Module) -> Iterator[Trial]:
    """Yield other inputs to begin with: ``others``, lists, single steps, what layers take, one size."""
    first = replace(trial, inputs=given)
    for other in others:
        yield starting(replace(trial, inputs=other), "shapes that are not stated")
    for lists in lists_of_inputs(model, given):
        yield starting(replace(trial, inputs=lists), "inputs as lists")
    step = edited(first, one_step(first))
    if step != first:
        yield starting(step, "one step of each sequence")
    for tensor in other_inputs(model):
        items = tuple((key, tensor if isinstance(part, Tensor) else part) for key, part in given.items)
        yield starting(replace(trial, inputs=Group("inputs", items)), "one tensor for all inputs")
    uniform = Group("inputs", tuple((key, alike(part)) for key, part in given.items))
    yield starting(replace(trial, inputs=uniform), "one size for all inputs")
