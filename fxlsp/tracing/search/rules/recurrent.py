"""Recurrent layers: the shape of their states, and one step of a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from types import TracebackType
from typing import Any

import torch

from ..evidence import Evidence
from ..priors.tables import BATCH
from ..trials.values import Edit, Group, Guess, Path, Tensor, Trial, edited, input_tensors, list_of, part_at, several
from .registry import rule

_RNNBase = torch.nn.RNNBase
_RNNCellBase = torch.nn.RNNCellBase
_Shape = tuple[int, ...]


@dataclass(frozen=True)
class _LayerCall:
    """A call of a recurrent layer that raised."""

    layer: torch.nn.Module
    given: torch.Tensor
    states: Any

    @property
    def wanted(self) -> tuple[_Shape, ...]:
        """The shapes of its states: of an LSTM two."""
        layer: Any = self.layer
        batch, width = self._batch, layer.hidden_size
        if isinstance(layer, _RNNCellBase):
            return ((*batch, width),) * (1 + isinstance(layer, torch.nn.LSTMCell))
        count = layer.num_layers * (1 + layer.bidirectional)
        shown = (count, *batch, getattr(layer, "proj_size", 0) or width)
        return (shown, (count, *batch, width)) if isinstance(layer, torch.nn.LSTM) else (shown,)

    @property
    def _batch(self) -> _Shape:
        if isinstance(self.layer, _RNNCellBase):
            return tuple(self.given.shape[:-1])
        place = 0 if getattr(self.layer, "batch_first", False) else 1
        return (self.given.shape[place],) if self.given.dim() > 2 else ()


@rule("state of a recurrent layer", "kind")
def _recurrent(evidence: Evidence) -> Iterator[Edit]:
    """Give a recurrent layer states of its shape, or one step where several became features of one."""
    call, trial = _raising(evidence.error.__traceback__), evidence.trial
    if call is None:
        return
    width: Any = call.layer.input_size
    if call.given.shape[-1] != width:
        yield from _fewer_steps(trial, call.given.shape[-1], width)
    elif isinstance(call.states, torch.Tensor):
        if len(call.wanted) == 1:
            yield from _reshaped(trial, tuple(call.states.shape), call.wanted[0])
        else:
            yield from _in_pairs(trial, tuple(call.states.shape), call.wanted)
    elif isinstance(call.states, (tuple, list)) and len(call.states) == len(call.wanted) == 2:
        together: dict[Path, Guess | None] = {}
        for state, wanted in zip(call.states, call.wanted, strict=True):
            if isinstance(state, torch.Tensor):
                together.update(next(_reshaped(edited(trial, together), tuple(state.shape), wanted), {}))
        if together:
            yield together


def _raising(traceback: TracebackType | None) -> _LayerCall | None:
    found = None
    while traceback is not None:
        held = traceback.tb_frame.f_locals
        layer, given = held.get("self"), held.get("orig_input", held.get("input"))
        if (
            isinstance(layer, (_RNNBase, _RNNCellBase))
            and isinstance(given, torch.Tensor)
            and given.dim()
            and "hx" in held
        ):
            found = _LayerCall(layer, given, held["hx"])
        traceback = traceback.tb_next
    return found


def _reshaped(trial: Trial, got: _Shape, wanted: _Shape) -> Iterator[Edit]:
    """Give the input that became a state of one shape, or has it as a part, another shape."""
    if got == wanted:
        return
    for path, tensor in input_tensors(trial):
        shape = _before(tensor.shape, got, wanted)
        if shape is not None:
            yield {path: Tensor(shape)}


def _before(shape: _Shape, got: _Shape, wanted: _Shape) -> _Shape | None:
    """Return what a shape that became ``got`` has to be; None if it did not become that."""
    if shape == got:
        return wanted
    if shape[1:] == got:
        return (shape[0], *wanted)
    if (1, *shape) == got and wanted[0] == 1:
        return wanted[1:]
    if len(shape) == len(wanted) == 3 and (shape[1], shape[0], shape[2]) == got:
        return (wanted[1], wanted[0], wanted[2])
    return None


def _in_pairs(trial: Trial, got: _Shape, wanted: tuple[_Shape, ...]) -> Iterator[Edit]:
    """Give an LSTM two states for what was one tensor, and so for each beside it."""
    pair = list_of(map(Tensor, wanted), "tuple")
    for path, tensor in input_tensors(trial):
        if tensor.shape == got:
            beside = part_at(trial, path[:-1]) if len(path) > 2 else None
            if isinstance(beside, Group) and all(part == tensor for _, part in beside.items):
                yield {path[:-1]: replace(beside, items=tuple((key, pair) for key, _ in beside.items))}
            yield {path: pair}
        elif tensor.shape[1:] == got:
            yield {path: several(pair, tensor.shape[0])}


def _fewer_steps(trial: Trial, got: int, want: int) -> Iterator[Edit]:
    """Give one step of a sequence, or one sequence, where several became features."""
    if want <= 0 or got <= want or got % want:
        return
    for path, tensor in input_tensors(trial):
        behind = () if tensor.dtype == "long" else tensor.shape[-1:]
        before = tensor.shape[: len(tensor.shape) - len(behind)]
        if prod(before) % (got // want) == 0:
            yield from ({path: replace(tensor, shape=(*each, *behind))} for each in _shares(before, got // want))


def _shares(shape: _Shape, times: int) -> Iterator[_Shape]:
    """Yield shapes of so many times fewer elements."""
    if prod(shape) == times:
        yield (1,) * max(len(shape) - 1, 1)
        yield (1,) * len(shape)
    for index, size in enumerate(shape):
        if size == times:
            if index or size != BATCH:
                yield (*shape[:index], *shape[index + 1 :])
            yield (*shape[:index], 1, *shape[index + 1 :])
