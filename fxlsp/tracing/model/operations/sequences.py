"""Mismatches of layers that take sequences: recurrent ones with their states, attention with its masks."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .. import module_tree
from .layers import LayerRule, dimensions, features
from .operation import Fit, Key, Mismatch, Operation, shape_text, with_size


def _recurrent(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    if given is None:
        return None
    if isinstance(layer, nn.RNNCellBase):
        wrong = dimensions(label, given, 1, 2)
        return wrong or features(label, operation.key(0, "input"), given, layer.input_size)
    wrong = dimensions(label, given, 2, 3)
    wrong = wrong or features(label, operation.key(0, "input"), given, layer.input_size)
    return wrong or _state(operation, layer, label, given)


def _state(operation: Operation, layer: Any, label: str, given: torch.Tensor) -> Mismatch | None:
    """Return the mismatch of a state with the batch of the input, and with the layer's own sizes."""
    held = operation.value(1, "hx")
    states = tuple(held) if isinstance(held, (tuple, list)) else (held,)
    if len(states) != (2 if isinstance(layer, nn.LSTM) else 1) or given.dim() != 3:
        return None
    batch = int(given.shape[0 if layer.batch_first else 1])
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    sizes = (getattr(layer, "proj_size", 0) or layer.hidden_size, layer.hidden_size)
    for index, (state, size) in enumerate(zip(states, sizes, strict=False)):
        wanted = (count, batch, size)
        if isinstance(state, torch.Tensor) and tuple(state.shape) != wanted:
            first = operation.key(1, "hx")
            key: Key = (*first, index) if isinstance(held, (tuple, list)) else first
            texts = f"{shape_text(wanted)} for a batch of {batch}, got {shape_text(state.shape)}"
            return Mismatch(f"{label} takes a state of {texts}", {key: Fit(wanted)})
    return None


def _attention(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    sizes = {"query": layer.embed_dim, "key": layer.kdim, "value": layer.vdim}
    given = {name: operation.tensor(position, name) for position, name in enumerate(sizes)}
    if any(tensor is None for tensor in given.values()):
        return None
    for position, (name, wanted) in enumerate(sizes.items()):
        tensor = given[name]
        assert tensor is not None
        found = features(label, operation.key(position, name), tensor, wanted, what=name)
        if found is not None:
            fitting = {
                operation.key(at, each): with_size(operand, -1, sizes[each])
                for at, (each, operand) in enumerate(given.items())
                if operand is not None and operand.dim()
            }
            return Mismatch(found.headline, fitting, found.is_certain)
    key, value = given["key"], given["value"]
    assert key is not None
    assert value is not None
    axis = 0 if key.dim() == 2 or not layer.batch_first else 1
    if key.dim() == value.dim() and key.dim() > axis and key.shape[axis] != value.shape[axis]:
        fits = with_size(value, axis, int(key.shape[axis]))
        headline = f"{label} takes as many values as keys, got {key.shape[axis]} keys and {value.shape[axis]} values"
        return Mismatch(headline, {operation.key(2, "value"): fits})
    return _masks(operation, layer, label)


def _masks(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of a mask with the numbers of queries and keys."""
    query, key = operation.tensor(0, "query"), operation.tensor(1, "key")
    if query is None or key is None or query.dim() != key.dim() or query.dim() not in (2, 3):
        return None
    is_single = query.dim() == 2
    axis = 0 if is_single or not layer.batch_first else 1
    queries, keys = int(query.shape[axis]), int(key.shape[axis])
    batch = 1 if is_single else int(query.shape[1 - axis])
    mask, padding = operation.tensor(5, "attn_mask"), operation.tensor(3, "key_padding_mask")
    each = (batch * layer.num_heads, queries, keys)
    if mask is not None and tuple(mask.shape) not in ((queries, keys), each):
        texts = f"{shape_text(each)} for each head of each sample, got {shape_text(mask.shape)}"
        headline = f"{label} takes an attn_mask of {shape_text((queries, keys))}, or of {texts}"
        return Mismatch(headline, {operation.key(5, "attn_mask"): Fit((queries, keys))})
    wanted = (keys,) if is_single else (batch, keys)
    if padding is not None and tuple(padding.shape) != wanted:
        headline = f"{label} takes a key_padding_mask of {shape_text(wanted)}, got {shape_text(padding.shape)}"
        return Mismatch(headline, {operation.key(3, "key_padding_mask"): Fit(wanted)})
    return None


def _transformer(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    wanted = next(
        (module.embed_dim for module in module_tree.modules(layer) if isinstance(module, nn.MultiheadAttention)), None
    )
    found: list[Mismatch] = []
    fitting: dict[Key, Fit | int] = {}
    names = ("src", "tgt") if isinstance(layer, nn.Transformer) else ("src",)
    names = ("tgt", "memory") if isinstance(layer, (nn.TransformerDecoder, nn.TransformerDecoderLayer)) else names
    for position, name in enumerate(names):
        given = operation.tensor(position, name)
        wrong = None
        if given is not None and wanted is not None:
            wrong = features(label, operation.key(position, name), given, wanted, what=name if len(names) > 1 else "")
        if wrong is not None:
            found.append(wrong)
            fitting |= wrong.fitting
    return Mismatch(found[0].headline, fitting, all(each.is_certain for each in found)) if found else None


SEQUENCE_LAYERS: tuple[tuple[type[nn.Module] | tuple[type[nn.Module], ...], LayerRule], ...] = (
    ((nn.RNNBase, nn.RNNCellBase), _recurrent),
    (nn.MultiheadAttention, _attention),
    (
        (
            *(nn.TransformerEncoderLayer, nn.TransformerEncoder, nn.TransformerDecoderLayer, nn.TransformerDecoder),
            nn.Transformer,
        ),
        _transformer,
    ),
)
