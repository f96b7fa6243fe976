"""Trials with which a search begins: none of a failure's suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch

from .evidence import TargetFacts
from .priors.class_body import body_of
from .priors.configurations import configurations
from .priors.constructor import (
    class_names,
    first_init,
    further_arguments,
    is_configuration,
    optional_arguments,
    other_defaults,
    takes_images,
    without_weights,
)
from .priors.inputs import lists_of_inputs, other_inputs, part_of_input
from .size_edits import one_step
from .trials.trial_queue import TrialQueue
from .trials.values import Group, Guess, Open, Origin, Size, Tensor, Trial, edited

UNIFORM = 4
"""Where distinct sizes lead nowhere everything has this one: what was to be equal then is."""


class Starts:
    """The first trials of a search for the arguments of a class or factory."""

    def __init__(self, facts: TargetFacts, queue: TrialQueue) -> None:
        self._facts = facts
        self._queue = queue

    def of_target(self, target: Any, name: str) -> bool:
        """Read what the target's own code states, and let its first trials wait.

        Return whether no argument is a configuration of which the code makes several.
        """
        names, module = self._facts.names, self._facts.module
        names.read(body_of(target))
        if takes_images(target, name):
            names.of_whole_image_model()
        names.configurations = configurations(target, module, names)
        is_configuration_sure = all(len(each) == 1 for each in names.configurations.values())
        first = first_init(target, name, names, module)
        self._facts.optional = optional_arguments(target, names, module)
        self._facts.further = further_arguments(target, names)
        self._facts.defaults = other_defaults(target)
        self._facts.class_names = class_names(target)
        self._facts.weights = without_weights(target)
        self._queue.push(Trial(first), (0, 0), 0)
        self._push_other_configurations(target, name, first)
        self._queue.begin_elsewhere([starting(Trial(alike(first), None, UNIFORM), "one size for everything")])
        return is_configuration_sure

    def part(self, open_: Open, name: str) -> Guess:
        """Return the first guess for an attribute of what is unknown."""
        is_plain = not is_configuration(open_.name)
        if name in ("weight", "bias") and is_plain:
            # A layer's tensors, rather than whether it has some.
            return Open(name, 2)
        if name == "shape" and not open_.is_input and is_plain:
            return Open(name, open_.size)
        return part_of_input(open_, name) if open_.is_input else self._facts.names.of(name)

    def _push_other_configurations(self, target: Any, name: str, first: Group) -> None:
        """Let trials wait with the further configurations that the code makes, and one with a made-up one."""
        names = self._facts.names
        for key, others in names.configurations.items():
            for rank, other in enumerate(others[1:], 1):
                if key in dict(first.items):
                    self._queue.push(Trial(first.with_part(key, other)), (0, 0), rank)
        if names.configurations:
            names.configurations = {}
            # In case that the configurations of the file are those of other models.
            made_up = Trial(first_init(target, name, names, self._facts.module))
            self._queue.begin_elsewhere([starting(made_up, "made-up configuration")])


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
