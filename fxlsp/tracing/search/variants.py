"""Other trials of the same kind: everything of one size, other usual inputs, one step of each sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from .feeds import feeds_of_lists, other_inputs
from .guesses import Group, Guess, Open, Size, Tensor, Trial
from .sizes import step_of

UNIFORM = 4
"""Where distinct sizes lead nowhere everything has this one: what was to be equal then is."""


def alike(part: Guess) -> Guess:
    """The part with the size that everything has."""
    if isinstance(part, Open):
        return replace(part, size=UNIFORM)
    if isinstance(part, Size):
        return Size(UNIFORM)
    if isinstance(part, Tensor):
        return replace(part, shape=(UNIFORM,) * 4)
    if isinstance(part, Group):
        return replace(part, items=tuple((key, alike(inner)) for key, inner in part.items))
    return part


def other_feeds(trial: Trial, feed: Group, model: torch.nn.Module) -> Iterator[Trial]:
    """Steps of sequences, then the same for each input that is a tensor: what layers take, and usual tensors."""
    yield from (replace(trial, fed=lists) for lists in feeds_of_lists(model, feed))
    steps = step_of(replace(trial, fed=feed))
    if steps.fed != feed:
        yield steps
    for tensor in other_inputs(model):
        items = tuple((key, tensor if isinstance(part, Tensor) else part) for key, part in feed.items)
        yield replace(trial, fed=Group("fed", items))
    yield replace(trial, fed=Group("fed", tuple((key, alike(part)) for key, part in feed.items)))


def inputs_that_differ(trial: Trial, other: Trial) -> set[str]:
    if trial.fed is None or other.fed is None:
        return set()
    before = dict(trial.fed.items)
    return {key.rstrip("=") for key, part in other.fed.items if before.get(key) != part}
