"""Shapes of inputs by the first operations on them, in the graph of a symbolic trace."""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch
import torch.fx

from ...model import module_tree
from ...model.building.builder import seed
from ...model.building.fake_tensors import OnCpu
from ...model.building.forward_entry import forward_entry
from ...model.locations.bytecode.instructions import instruction_of
from ...model.locations.bytecode.opcodes import unpacked_variables
from ..trials.budget import OutOfBudgetError
from ..trials.values import Group, Tensor
from .layers import image_sizes, input_of, rank_of, spatial
from .tables import (
    BATCH,
    BATCHES,
    CHANNELS,
    COLOURS,
    DEPTHS,
    EDGES,
    IMAGE,
    IMAGES,
    SEQUENCE,
    SIZE_OF_SHAPE,
    STEPS,
    VOLUME,
)

UNKNOWN = 0
"""The size of a dimension of which nothing is known: that of channels."""
_JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "dstack"})
"""Functions that put tensors beside each other."""
_SMALLEST_FLATTENED = 28
"""Edge of an image that is not named like one: what is flattened may be a map of one position too."""
_DEEPEST = 12
"""Operations between an input and the layer that says what it is."""
_SAME = re.compile(
    r"""relu|leaky_relu|gelu|sigmoid|tanh|silu|elu|dropout|dropout2d|dropout3d|contiguous|float|clone|to|type
    |add|mul|sub|truediv|div|pow|iadd|abs|exp|log|clamp|neg|softmax|log_softmax|normalize|cuda|detach
    |type_as|batch_norm|instance_norm|half|double|relu_|expand_as|square|sqrt|rsqrt|requires_grad_
    |hardtanh|softplus|mish""",
    re.VERBOSE,
)


_FX = os.path.dirname(torch.fx.__file__)
_NAMES = "fxlsp_names"
"""Key of what is noted of a node."""

Modules = dict[str, torch.nn.Module]


class _Tracer(torch.fx.Tracer):
    """Notes into which names a shape is unpacked."""

    def create_node(self, *args: Any, **kwargs: Any) -> torch.fx.Node:
        node = super().create_node(*args, **kwargs)
        if _name(node) == "getitem" and isinstance(node.args[0], torch.fx.Node):
            names = unpacked_variables(instruction_of(_frame_outside_fx()))
            if names:
                node.args[0].meta[_NAMES] = names
        return node


def _frame_outside_fx() -> FrameType:
    """Return the frame of the model's code that runs."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FX):
        frame = frame.f_back
    return frame


def first_uses(model: torch.nn.Module) -> dict[str, Tensor | Group]:
    """Return a tensor, or a tuple of them, for each input whose first uses show its shape."""
    tracer = _Tracer()
    seed()
    try:
        with OnCpu():
            tracer.trace(model)
    except OutOfBudgetError:
        raise
    except BaseException:
        # What was recorded so far is all that is asked for. SystemExit too: it ends the user's code, not this process.
        pass
    graph = getattr(tracer, "graph", None)
    if graph is None:
        return {}
    names = set(inspect.signature(forward_entry(model)).parameters)
    modules = dict(module_tree.named_modules(model))
    found: dict[str, Tensor | Group] = {}
    for node in graph.nodes:
        if node.op == "placeholder" and str(node.target) in names:
            taken = (
                _unpacked_tuple(node, modules)
                or _state(node, modules)
                or _flattened_image(node, modules)
                or _needed_by_users(node, modules, _DEEPEST)
            )
            if taken is not None:
                found[str(node.target)] = taken
    return found


def _unpacked_tuple(node: torch.fx.Node, modules: Modules) -> Group | None:
    """Return a tuple, where an input is only indexed by 0, 1 and so on.

    Of parts of which nothing else is known the shape is empty.
    """
    items: dict[int, list[torch.fx.Node]] = {}
    for user in node.users:
        index = user.args[1] if _name(user) == "getitem" else None
        if not isinstance(index, int):
            return None
        items.setdefault(index, []).append(user)
    if len(items) < 2 or set(items) != set(range(len(items))):
        return None
    if SIZE_OF_SHAPE.fullmatch(str(node.target)):
        return image_sizes(len(items))
    parts = [_of_several(items[index], modules) for index in range(len(items))]
    known = next((part for part in parts if part is not None and 0 not in part.shape), Tensor(()))
    sized = [part if part is not None and 0 not in part.shape else known for part in parts]
    return Group("tuple", tuple((f"[{index}]", part) for index, part in enumerate(sized)))


def _of_several(nodes: list[torch.fx.Node], modules: Modules) -> Tensor | None:
    """Return what one part is that was read several times."""
    needs = [need for node in nodes if (need := _needed_by_users(node, modules, _DEEPEST)) is not None]
    sized = [need for need in needs if 0 not in need.shape]
    return max(sized or needs, key=lambda need: need.shape[:1], default=None)


def _state(node: torch.fx.Node, modules: Modules) -> Group | None:
    """Return the hidden and the cell state of an LSTM."""
    for user in node.users:
        layer = modules.get(str(user.target)) if user.op == "call_module" else None
        if isinstance(layer, (torch.nn.LSTM, torch.nn.LSTMCell)) and user.args[1:2] == (node,):
            state = input_of(layer, 1)
            if state is not None:
                return Group("tuple", (("[0]", state), ("[1]", state)))
    return None


def _flattened_image(node: torch.fx.Node, modules: Modules) -> Tensor | None:
    """Return the batch of images of which all but the batch is made one row, for a linear layer."""
    for user in node.users:
        if not _is_flattening(user, modules):
            continue
        row = _needed_by_users(user, modules, _DEEPEST)
        if row is None or row.dtype != "float" or len(row.shape) < 2:
            continue
        is_named = IMAGES.fullmatch(str(node.target)) is not None
        smallest = 2 if is_named else _SMALLEST_FLATTENED
        for colours in (1, COLOURS):
            edge = math.isqrt(row.shape[-1] // colours)
            if edge >= smallest and colours * edge**2 == row.shape[-1]:
                return Tensor((BATCH, colours, edge, edge))
    return None


def _is_flattening(node: torch.fx.Node, modules: Modules) -> bool:
    """Return whether a node keeps the batch, and makes one dimension of all others."""
    if node.op == "call_module":
        layer = modules.get(str(node.target))
        return isinstance(layer, torch.nn.Flatten) and (layer.start_dim, layer.end_dim) == (1, -1)
    if _name(node) == "flatten":
        return (node.args[1:], dict(node.kwargs)) in (((1,), {}), ((), {"start_dim": 1}), ((1, -1), {}))
    sizes = list(_flat(node.args[1:])) if _name(node) in ("view", "reshape") else []
    return len(sizes) == 2 and sizes[1] == -1 and isinstance(sizes[0], torch.fx.Node)


def _needed_by_users(node: torch.fx.Node, modules: Modules, depth: int) -> Tensor | None:
    """Return what the users of ``node`` need it to be, the best known first."""
    if depth == 0:
        return None
    needs = [need for user in node.users if (need := _needed_by(user, node, modules, depth)) is not None]
    sized = [need for need in needs if 0 not in need.shape]
    return next(iter(sized or needs), None)


def _needed_by(user: torch.fx.Node, node: torch.fx.Node, modules: Modules, depth: int) -> Tensor | None:
    name = _name(user)
    if user.op == "call_module":
        return _needed_by_module(user, node, modules, depth)
    if (name == "getattr" and user.args[1:] == ("shape",)) or (name == "size" and len(user.args) == 1):
        shape = shape_of(user.meta.get(_NAMES, ()))
        return _of_rank(_unpacked(user)) if shape is None else Tensor(shape)
    if name == "getitem":
        return _of_layers(user, modules, depth)
    if name in ("size", "flatten"):
        return None
    if name in _JOINING:
        return _before_joining(user, modules, depth)
    if name in ("permute", "transpose", "unsqueeze"):
        return _before_moving(user, name, modules, depth)
    if _SAME.fullmatch(name.strip("_")):
        return _needed_by_users(user, modules, depth - 1)
    return None


def _before_joining(user: torch.fx.Node, modules: Modules, depth: int) -> Tensor | None:
    """Return what is joined with others: of that dimension nothing is known."""
    after = _needed_by_users(user, modules, depth - 1)
    dim = user.args[1] if len(user.args) > 1 else user.kwargs.get("dim", 0)
    if after is None or not isinstance(dim, int) or after.dtype != "float":
        return None
    layers = [modules.get(str(each.target)) for each in user.users if each.op == "call_module"]
    if dim == 1 and any(isinstance(layer, torch.nn.Linear) for layer in layers):
        # Features behind the batch, not steps of a sequence.
        return Tensor((BATCH, UNKNOWN))
    if dim == 1 and len(after.shape) == 3 and after.shape[:2] == (BATCH, SEQUENCE) and _is_before_steps(layers):
        # Steps of a sequence beside others.
        return after
    if not 0 < dim % len(after.shape) == (len(after.shape) - 1 if len(after.shape) < 4 else 1):
        return None
    return Tensor(tuple(UNKNOWN if index == dim % len(after.shape) else size for index, size in enumerate(after.shape)))


def _is_before_steps(layers: Sequence[torch.nn.Module | None]) -> bool:
    kinds = (torch.nn.RNNBase, torch.nn.TransformerEncoderLayer, torch.nn.TransformerEncoder, torch.nn.LayerNorm)
    return any(isinstance(layer, kinds) for layer in layers)


def _of_layers(user: torch.fx.Node, modules: Modules, depth: int) -> Tensor | None:
    """Return a state of which one layer's is read: one step of what its users need."""
    index = user.args[1]
    need = _needed_by_users(user, modules, depth - 1) if isinstance(index, int) else None
    if need is None or need.dtype != "float" or len(need.shape) not in (2, 3):
        return None
    return Tensor((index + 1 if isinstance(index, int) and index >= 0 else 1, BATCH, need.shape[-1]))


def _needed_by_module(user: torch.fx.Node, node: torch.fx.Node, modules: Modules, depth: int) -> Tensor | None:
    layer = modules.get(str(user.target))
    if layer is None:
        return None
    positions = [index for index, argument in enumerate(user.args) if argument is node or _is_in(node, argument)]
    position = positions[0] if positions else 0
    found = input_of(layer, position)
    if found is not None or position:
        return found
    after = _needed_by_users(user, modules, depth - 1) if _keeps_shape(layer) else None
    return after or _of_rank(rank_of(layer) or 0)


def _is_in(node: torch.fx.Node, argument: object) -> bool:
    """Return whether an argument is a tuple of states with a node in it."""
    return isinstance(argument, (tuple, list)) and any(each is node for each in argument)


def _keeps_shape(layer: torch.nn.Module) -> bool:
    return type(layer).__module__ in (
        "torch.nn.modules.activation",
        "torch.nn.modules.dropout",
        "torch.nn.modules.linear",
    )


def _name(node: torch.fx.Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def _unpacked(shape: torch.fx.Node) -> int:
    """Return how many items of a shape are read, from the first one on."""
    indices = [user.args[1] for user in shape.users if _name(user) == "getitem"]
    numbers = {index for index in indices if isinstance(index, int) and index >= 0}
    return len(numbers) if len(numbers) > 2 and numbers == set(range(len(numbers))) else 0


def _of_rank(rank: int) -> Tensor | None:
    """Return a tensor of which the rank alone is known."""
    if rank < 2:
        return None
    if rank >= 4:
        return spatial(UNKNOWN, rank - 2)
    return Tensor((BATCH, SEQUENCE, UNKNOWN) if rank == 3 else (BATCH, UNKNOWN))


def _before_moving(user: torch.fx.Node, name: str, modules: Modules, depth: int) -> Tensor | None:
    """Return what is needed before dimensions are moved."""
    after = _needed_by_users(user, modules, depth - 1)
    numbers = [item for item in _flat(user.args[1:]) if isinstance(item, int)]
    if name == "permute" and (after is None or len(after.shape) != len(numbers)):
        return _of_rank(len(numbers))
    if after is None:
        return None
    shape = list(after.shape)
    rank = len(shape)
    try:
        if name == "permute":
            before = [0] * rank
            for position, index in enumerate(numbers):
                before[index] = shape[position]
        elif name == "transpose":
            before = shape
            one, other = numbers
            before[one], before[other] = before[other], before[one]
        else:
            before = shape
            del before[numbers[0]]
    except (IndexError, ValueError):
        return None
    if after.dtype == "float" and before and rank == 3 and name != "unsqueeze" and before[0] == SEQUENCE:
        # A batch comes first unless a layer says otherwise.
        return Tensor(tuple(before))
    return Tensor(tuple(before), after.dtype)


def _flat(values: object) -> Iterator[object]:
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from _flat(value)
    else:
        yield values


def shape_of(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the shape that is unpacked into ``names``; None if these do not show it.

    Channels are :data:`UNKNOWN`.

    Which dimension is the channels' is what matters: every layer has its own place for it.
    """
    if len(names) < 3:
        return None
    is_batch_second = bool(BATCHES.fullmatch(names[1])) and not BATCHES.fullmatch(names[0])
    places = [index for index in range(1, len(names)) if not (index == 1 and is_batch_second)]
    channels = _only(CHANNELS, names, places)
    if channels is None:
        channels = _only(DEPTHS, names, places)
    if channels is None:
        return None
    first = (SEQUENCE, BATCH) if is_batch_second else (BATCH,)
    rest = [UNKNOWN if index == channels else _size(names[index], len(names)) for index in places]
    return (*first, *rest)


def _only(pattern: re.Pattern[str], names: Sequence[str], places: list[int]) -> int | None:
    found = [index for index in places if pattern.fullmatch(names[index])]
    return found[0] if len(found) == 1 else None


def _size(name: str, rank: int) -> int:
    if STEPS.fullmatch(name) or rank == 3:
        return SEQUENCE
    return IMAGE if EDGES.fullmatch(name) or rank < 5 else VOLUME
