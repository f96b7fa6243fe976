"""What a found input should be beside running: images near square, ids only into tables, no number twice by accident.

Trials that break a convention are worth less than those that keep all. What was found is then brought nearer to what
people write, as far as the model runs with it.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch

from ..model import module_tree
from ..model.locations.class_text import codes_within
from .priors.tables import ARGUMENT_SIZES, BATCH, CHANNEL_COUNT, COLOURS, FEATURE, IDS, POOL, SEQUENCE, VALUES
from .trials.values import (
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    changed,
    init_numbers,
    input_tensors,
    is_item,
    leaves,
    name_of,
    number_of,
    with_dimension,
)

_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
_NO_LAYERS = (*_CONTAINERS, torch.nn.Module, torch.nn.Identity)
Runs = Callable[[Trial], bool]
_WIDEST = 4
"""Times that one edge of an image is longer than the other, at most."""
_ROUND = (32, 16, 8, 4, 2)
"""Of which edges of images are multiples, the likeliest first."""
_SMALLEST = 16
"""Smaller edges are those of feature maps, which may be any number."""
_MOST_PARTS = 3
"""A kernel, or a count of layers, that is guessed to be no larger may as well be 1."""
_MOST_TRIED = 24
"""Runs that one trial's numbers are worth."""


def breaches(trial: Trial) -> int:
    """Return how many conventions a trial breaks."""
    tensors = input_tensors(trial)
    bent = sum(_is_bent(tensor) for _, tensor in tensors)
    return bent + sum(_is_of_other_kind(name_of(path), tensor) for path, tensor in tensors) + is_degenerate(trial)


def is_degenerate(trial: Trial) -> bool:
    """Return whether sizes are equal, 1 or None by an edit alone, so that a wrong model may run with them."""
    of_one = (path for path, part in init_numbers(trial) if number_of(part) == 1)
    without = (path for path, part in leaves(trial) if path[0] == "init" and part == Text("None"))
    return (
        trial.uniform > 0
        or any(_is_larger_by_default(name_of(path)) for path in of_one)
        or any(FEATURE.fullmatch(name_of(path)) for path in without)
    )


def _is_larger_by_default(name: str) -> bool:
    """Return whether an argument is a size that is hardly ever 1, as are kernels, counts of layers, and colours."""
    usual = ARGUMENT_SIZES.of(name)
    return (usual is None or usual > _MOST_PARTS) and CHANNEL_COUNT.fullmatch(name) is None


def is_without_layers(model: torch.nn.Module) -> bool:
    """Return whether a constructor that makes layers has made none: what runs then says nothing of the model."""
    layers = [each for each in module_tree.modules(model) if each is not model and not isinstance(each, _CONTAINERS)]
    unregistered = (value for name, value in vars(model).items() if name != "_modules")
    if layers or any(True for _ in module_tree.parameters(model)) or any(map(_holds_module, unregistered)):
        return False
    makers = [vars(kind).get("__init__") for kind in type(model).__mro__ if kind is not torch.nn.Module]
    codes = (each for maker in makers if inspect.isfunction(maker) for each in codes_within(maker.__code__))
    names = {name for code in codes for name in code.co_names}
    kinds = [getattr(torch.nn, name, None) for name in names]
    return any(inspect.isclass(kind) and issubclass(kind, torch.nn.Module) for kind in kinds if kind not in _NO_LAYERS)


def _holds_module(value: object) -> bool:
    """Return whether a plain attribute is a module or a list or dict of some, which torch does not register."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_module, value))
    if isinstance(value, dict):
        return any(map(_holds_module, value.values()))
    return isinstance(value, torch.nn.Module)


def _is_bent(tensor: Tensor) -> bool:
    """Return whether a tensor is an image of which one edge is far longer than the other."""
    edges = tensor.shape[-2:]
    return len(tensor.shape) == 4 and tensor.dtype == "float" and 1 < min(edges) < max(edges) / _WIDEST


def _is_of_other_kind(name: str, tensor: Tensor) -> bool:
    """Return whether a tensor that is named like features holds ids, or the other way round."""
    if tensor.dtype == "long":
        return VALUES.fullmatch(name) is not None
    return tensor.dtype == "float" and IDS.fullmatch(name) is not None and len(tensor.shape) < 3


def as_people_write(trial: Trial, runs: Runs, takes_images: bool = False) -> Trial:
    """Return a trial that runs with numbers as people write them, as far as it runs with these."""
    if takes_images:
        trial = next(filter(runs, _with_colours(trial)), trial)
    trial = next(filter(runs, _with_steps(trial)), trial)
    trial = next(filter(runs, _with_round_edges(trial)), trial)
    return _with_distinct_sizes(trial, runs)


def _with_colours(trial: Trial) -> Iterator[Trial]:
    """Yield the trial with images of three colours, where an argument says how many channels they have."""
    # A list of numbers of channels is that of maps of features.
    single = [(path, part) for path, part in init_numbers(trial) if not is_item(path[-1])]
    numbers = [(path, part) for path, part in single if CHANNEL_COUNT.fullmatch(name_of(path))]
    for count in dict.fromkeys(number_of(part) for _, part in numbers):
        images = [item for item in input_tensors(trial) if _has_edges(item[1]) and item[1].shape[1] == count]
        if images and count > COLOURS:
            other = trial
            for path, tensor in images:
                other = changed(other, path, with_dimension(tensor, 1, COLOURS))
            for path, part in numbers:
                if number_of(part) == count:
                    other = changed(other, path, Size(COLOURS))
            yield other


def _with_steps(trial: Trial) -> Iterator[Trial]:
    """Yield the trial with features for each step of what is named like one: not for one step."""
    single = [
        (path, tensor)
        for path, tensor in input_tensors(trial)
        if len(tensor.shape) == 2 and _is_of_other_kind(name_of(path), tensor) and tensor.dtype == "float"
    ]
    other = trial
    for path, tensor in single:
        batch, *rest = tensor.shape
        other = changed(other, path, replace(tensor, shape=(batch, SEQUENCE, *rest)))
    if single:
        yield other


def _with_round_edges(trial: Trial) -> Iterator[Trial]:
    """Yield the trial with square images, and with edges that are multiples of powers of two."""
    images = [(path, tensor) for path, tensor in input_tensors(trial) if _has_edges(tensor)]
    for edges in dict.fromkeys(tensor.shape[-2:] for _, tensor in images):
        for edge in _rounded(*edges):
            other = trial
            for path, tensor in images:
                if tensor.shape[-2:] == edges:
                    other = changed(other, path, replace(tensor, shape=(*tensor.shape[:-2], edge, edge)))
            yield other


def _has_edges(tensor: Tensor) -> bool:
    return len(tensor.shape) == 4 and tensor.dtype == "float" and min(tensor.shape[-2:]) >= _SMALLEST


def _rounded(height: int, width: int) -> list[int]:
    if height != width and max(height, width) <= _WIDEST * min(height, width):
        return []
    edge = math.isqrt(height * width)
    found = [edge // each * each for each in _ROUND if edge % 8]
    if height != width:
        found += [edge, *(each * 32 for each in range(edge // 32, 0, -1))][:4]
    return list(dict.fromkeys(each for each in found if each > 0))


@dataclass(frozen=True)
class _Dimension:
    """One size of a trial: of an argument of the constructor, or of one dimension of an input."""

    path: Path
    index: int | None = None

    def changed(self, trial: Trial, size: int) -> Trial:
        if self.index is None:
            return changed(trial, self.path, Size(size))
        tensor = dict(input_tensors(trial))[self.path]
        return changed(trial, self.path, with_dimension(tensor, self.index, size))


def _with_distinct_sizes(trial: Trial, runs: Runs) -> Trial:
    """Return a trial in which sizes that need not be equal are not."""
    changes = _Changes(trial, runs)
    if trial.uniform:
        dimensions = _inputs_of_size(trial, trial.uniform)
        changes.first_that_runs([[each for each in dimensions if each.index == 0]], BATCH)
        for index, length in ((1, SEQUENCE), (2, SEQUENCE + 8)):
            steps = [each for each in _inputs_of_size(changes.trial, trial.uniform) if each.index == index]
            changes.first_that_runs([steps, *([each] for each in steps)], length)
    counts = Counter(_feature_sizes(changes.trial).values())
    for size, _ in counts.most_common():
        same = [path for path, number in _feature_sizes(changes.trial).items() if number == size]
        for path in same if size == trial.uniform else same[1:]:
            if _feature_sizes(changes.trial)[path] == size:
                others = [each for each in same if each != path and _feature_sizes(changes.trial)[each] == size]
                changes.first_that_runs(_groups(changes.trial, path, others, size), _unused(changes.trial))
    return changes.trial


def _groups(trial: Trial, path: Path, others: list[Path], size: int) -> list[list[_Dimension]]:
    """Return what may have to be changed together with the number at ``path``."""
    own, inputs = _Dimension(path), _inputs_of_size(trial, size)
    # Two that are moved together stay equal, which is of use only where more than these are.
    beside = [*inputs, *map(_Dimension, others)] if trial.uniform else inputs
    pairs = [[own, other] for other in beside]
    return [[own], *pairs, [own, *inputs]]


class _Changes:
    """A trial that runs, and its changes with which it still does."""

    def __init__(self, trial: Trial, runs: Runs) -> None:
        self.trial = trial
        self._runs = runs
        self._left = _MOST_TRIED

    def first_that_runs(self, groups: list[list[_Dimension]], size: int) -> None:
        """Give the first group of dimensions another size with which the trial runs."""
        for group in groups:
            other = self.trial
            for dimension in group:
                other = dimension.changed(other, size)
            self._left -= bool(group)
            if group and self._left >= 0 and self._runs(other):
                self.trial = other
                return


def _inputs_of_size(trial: Trial, size: int) -> list[_Dimension]:
    tensors = input_tensors(trial)
    return [
        _Dimension(path, index)
        for path, tensor in tensors
        for index, each in enumerate(tensor.shape)
        if each == size and (index or trial.uniform)
    ]


def _unused(trial: Trial) -> int:
    """Return a size that nothing in the trial has."""
    used = {*_feature_sizes(trial).values(), *(size for _, tensor in input_tensors(trial) for size in tensor.shape)}
    return next((size for size in POOL if size not in used), POOL[-1])


def _feature_sizes(trial: Trial) -> dict[Path, int]:
    """Return the arguments that are numbers of features: none that has a usual value, such as a count of layers."""
    return {
        path: part.value
        for path, part in init_numbers(trial)
        if isinstance(part, Size) and ARGUMENT_SIZES.of(name_of(path)) is None and not is_item(path[-1])
    }
