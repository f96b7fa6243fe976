"""Sizes of a run that come from parameters of the model: no input changes them, wherever the run goes the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import torch

from ...isolation.torch_private import tensors_in

_OF_ACTIVATIONS = """
relu gelu silu mish elu selu celu leaky_relu prelu softplus hardswish hardtanh relu6 tanh sigmoid hardsigmoid
softmax log_softmax exp layer_norm rms_norm normalize
"""
"""Functions that make weights of numbers, or give them a scale."""
_OF_POINTWISE = """
dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout log sqrt rsqrt abs
neg clone contiguous detach float half double to type_as clamp clamp_min masked_fill where
add sub mul div truediv iadd isub imul itruediv radd rsub rmul rtruediv pow
"""
"""Further functions whose result has the broadcast shape of their operands."""
_OF_ORDER = """
transpose permute swapaxes movedim t get view reshape flatten unflatten squeeze unsqueeze expand getitem
chunk split tensor_split unbind select narrow
"""
"""Functions whose result has the numbers of their operand; ``get`` reads an attribute, such as ``tensor.mT``."""
_ACTIVATIONS, _POINTWISE, _REARRANGING = (
    frozenset(each.split()) for each in (_OF_ACTIVATIONS, _OF_POINTWISE, _OF_ORDER)
)
_LAST_OF_WEIGHT = {"linear": 0, "embedding": -1}
"""Which dimension of the weight is the last one of the result."""
_OF_CHANNELS = frozenset({"batch_norm", "instance_norm", "group_norm"})
"""Functions whose weights have the size of the second dimension, whatever the rank."""
_POOL = re.compile(r"(?P<adaptive>adaptive_)?(?:avg|max|lp)_pool(?P<rank>[123])d(?:_with_indices)?")
_PARTS = frozenset({"chunk", "split", "tensor_split"})
_RECURRENT = frozenset(
    {"lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}
)
_Fixed = frozenset[int]
"""Dimensions of a tensor, counted from the first."""
_NONE: _Fixed = frozenset()


class WeightSizes:
    """Follows which dimensions of each tensor of one run have their size from parameters or buffers."""

    def __init__(self, weights: Iterable[torch.Tensor]) -> None:
        """``weights`` are the parameters and buffers of the model."""
        self._fixed: dict[int, tuple[torch.Tensor, _Fixed]] = {}
        """With the tensors, lest their ids are used again."""
        for weight in weights:
            self._fixed[id(weight)] = weight, frozenset(range(weight.dim()))
        self._activated: dict[int, torch.Tensor] = {}
        self._fitting: set[tuple[int, ...]] = set()
        """Shapes of weights that ``linear`` has taken."""

    def has_fitted(self, weight: torch.Tensor) -> bool:
        """Return whether ``linear`` took a weight of this shape before."""
        return tuple(weight.shape) in self._fitting

    def is_activated(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor holds, in any order, what an activation or a normalisation returned."""
        return id(tensor) in self._activated

    def is_fixed(self, tensor: torch.Tensor, dimension: int) -> bool:
        """Return whether the size of a dimension, also one counted from the last, comes from parameters."""
        return dimension % max(tensor.dim(), 1) in self._of(tensor)

    def as_if_fitting(self, name: str, args: tuple[Any, ...]) -> torch.Tensor | None:
        """Return what ``linear``, which refused ``args``, would return for as many features as its weight takes.

        Only where the features of the operand depend on an input, as those of a flattened map do: what a layer before
        has made fits no better with other inputs. None for any other call.
        """
        if name != "linear" or len(args) < 2:
            return None
        operand, weight = args[:2]
        if not isinstance(operand, torch.Tensor) or not isinstance(weight, torch.nn.Parameter) or weight.dim() != 2:
            return None
        is_of_input = operand.dim() > 0 and not self.is_fixed(operand, -1)
        if not is_of_input or operand.dtype != weight.dtype or operand.shape[-1] == weight.shape[1]:
            return None
        return operand.new_empty((*operand.shape[:-1], weight.shape[0]))

    def note(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
        """Note that a function of torch's took ``args`` and returned ``result``.

        Never raises: what is noted of a function that is called unlike others must not become the model's failure.
        """
        with suppress(Exception):
            self._note(name.strip("_"), args, kwargs, result)

    def _note(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
        operands = list(tensors_in((args, dict(kwargs))))
        outputs = [
            each for each in (result if isinstance(result, tuple) else (result,)) if isinstance(each, torch.Tensor)
        ]
        if name == "linear" and len(operands) > 1:
            self._fitting.add(tuple(operands[1].shape))
        is_moved = name in _REARRANGING or name in _POINTWISE
        if name in _ACTIVATIONS or (is_moved and any(map(self.is_activated, operands))):
            self._activated.update((id(output), output) for output in outputs)
        if not any(self._of(operand) for operand in operands):
            return
        for output in outputs if name in _PARTS else outputs[:1]:
            fixed = self._of_result(name, (*args, *kwargs.values()) if name in _PARTS else args, operands, output)
            if fixed:
                self._fixed[id(output)] = output, fixed

    def _of(self, tensor: torch.Tensor) -> _Fixed:
        known = self._fixed.get(id(tensor))
        return _NONE if known is None else known[1]

    def _of_result(
        self, name: str, args: tuple[Any, ...], operands: list[torch.Tensor], result: torch.Tensor
    ) -> _Fixed:
        rank, first = result.dim(), operands[0]
        if name in _LAST_OF_WEIGHT and len(operands) > 1 and rank:
            # ``embedding`` is called with the indices, ``torch.embedding`` with the weight first.
            weights = [each for each in operands[:2] if self.is_fixed(each, _LAST_OF_WEIGHT[name]) and each.dim() > 1]
            return frozenset({rank - 1}) if weights else _NONE
        if name.startswith("conv") and len(operands) > 1 and self._of(operands[1]):
            return frozenset({rank - operands[1].dim() + 1})
        if name in _RECURRENT or name == "multi_head_attention_forward":
            return frozenset({rank - 1})
        if name in _OF_CHANNELS:
            has_weights = any(self._of(each) for each in operands[1:] if each.dim() == 1)
            return self._of(first) | (frozenset({1}) if has_weights and rank > 1 else _NONE)
        if name in _ACTIVATIONS or name in _POINTWISE:
            return self._broadcast(operands, result)
        return self._of_moved(name, args, first, result)

    def _of_moved(self, name: str, args: tuple[Any, ...], first: torch.Tensor, result: torch.Tensor) -> _Fixed:
        """Return the dimensions of what exchanges, joins, chooses or pools those of its operand."""
        if name == "transpose" and all(type(each) is int for each in args[1:3]) and len(args) > 2:
            one, two = (each % result.dim() for each in args[1:3])
            swapped = {one: two, two: one}
            return frozenset(swapped.get(each, each) for each in self._of(first))
        if name == "getitem" and len(args) > 1:
            return self._of_items(first, args[1])
        if name in _PARTS:
            # Of a size that is fixed, and in as many parts each time, the parts are too; not where a tensor says where.
            is_stated = not any(isinstance(each, torch.Tensor) for each in args[1:])
            return self._of(first) if is_stated and result.dim() == first.dim() else _NONE
        if name == "flatten":
            return self._flattened(first, *args[1:3], rank=result.dim())
        pool = _POOL.fullmatch(name)
        if pool is None:
            return _NONE
        spatial = result.dim() - int(pool["rank"])
        sizes = args[1] if len(args) > 1 else None
        edges = sizes if isinstance(sizes, (tuple, list)) else [sizes] * int(pool["rank"])
        # Other sizes than one may be those of another map.
        stated = {spatial + at for at, size in enumerate(edges) if size == 1 and pool["adaptive"]}
        return frozenset(each for each in self._of(first) if each < spatial) | stated

    def _flattened(self, first: torch.Tensor, start: Any = 0, end: Any = -1, *, rank: int) -> _Fixed:
        """Return the dimensions of a flattened tensor; the joined one if all that it is made of are fixed."""
        if type(start) is not int or type(end) is not int or not first.dim():
            return _NONE
        start, end, of = start % first.dim(), end % first.dim(), self._of(first)
        if first.dim() - (end - start) != rank:
            # Its arguments came by name.
            return _NONE
        joined = {start} if of.issuperset(range(start, end + 1)) else set()
        return frozenset(
            {each for each in of if each < start} | joined | {each - end + start for each in of if each > end}
        )

    def _broadcast(self, operands: list[torch.Tensor], result: torch.Tensor) -> _Fixed:
        """Return the dimensions that an operand has from parameters; those of size one if every operand has."""
        rank = result.dim()
        fixed: set[int] = set()
        for place, size in enumerate(result.shape):
            beside = [(each, place - rank + each.dim()) for each in operands if each.dim() >= rank - place]
            are_fixed = [at in self._of(each) and each.shape[at] == size for each, at in beside]
            if any(are_fixed) and (size != 1 or all(are_fixed)):
                fixed.add(place)
        return frozenset(fixed)

    def _of_items(self, tensor: torch.Tensor, index: Any) -> _Fixed:
        """Return the dimensions behind an index of numbers, whole slices and one ellipsis."""
        items = list(index) if isinstance(index, tuple) else [index]
        if any(not (type(item) is int or isinstance(item, slice) or item is Ellipsis) for item in items):
            return _NONE
        if Ellipsis in items:
            at = items.index(Ellipsis)
            items[at : at + 1] = [slice(None)] * (tensor.dim() - len(items) + 1)
        items += [slice(None)] * (tensor.dim() - len(items))
        left = [each for each, item in enumerate(items) if isinstance(item, slice)]
        return frozenset(
            place for place, each in enumerate(left) if each in self._of(tensor) and items[each] == slice(None)
        )
