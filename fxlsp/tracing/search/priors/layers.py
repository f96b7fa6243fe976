"""Tensors that torch's layers take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ...isolation.torch_private.layers import CONVOLUTIONS, NORMS, TRANSPOSED_CONVOLUTIONS
from ...model import module_tree
from ..trials.values import Group, Size, Tensor, list_of
from .patterns import PATCHES, pattern_axes
from .tables import BATCH, COLOURS, IMAGE, SEQUENCE, VOLUME


def spatial(channels: int, dimensions: int) -> Tensor:
    """Return a batch of images, signals or volumes."""
    edge = VOLUME if dimensions == 3 else IMAGE
    return Tensor((BATCH, channels, *[edge] * dimensions))


def input_of(layer: torch.nn.Module, position: int = 0) -> Tensor | None:
    """Return what ``layer`` takes as its argument number ``position``; None if nearly anything."""
    match layer:
        case torch.nn.MultiheadAttention():
            width = (layer.embed_dim, layer.kdim or layer.embed_dim, layer.vdim or layer.embed_dim)[min(position, 2)]
            return Tensor((BATCH, SEQUENCE, width) if layer.batch_first else (SEQUENCE, BATCH, width))
        case torch.nn.RNNBase():
            if position:
                return Tensor((layer.num_layers * (1 + layer.bidirectional), BATCH, layer.hidden_size))
            width = layer.input_size
            return Tensor((BATCH, SEQUENCE, width) if layer.batch_first else (SEQUENCE, BATCH, width))
        case torch.nn.RNNCellBase():
            return Tensor((BATCH, layer.hidden_size if position else layer.input_size))
        case torch.nn.Bilinear():
            return Tensor((BATCH, layer.in2_features if position else layer.in1_features))
    return None if position else _only_input(layer)


def _only_input(layer: torch.nn.Module) -> Tensor | None:
    if isinstance(layer, TRANSPOSED_CONVOLUTIONS) and _starts_from_a_code(layer):
        return Tensor((BATCH, layer.in_channels, *[1] * len(layer.kernel_size)))
    if isinstance(layer, CONVOLUTIONS):
        return spatial(layer.in_channels, len(layer.kernel_size))
    if isinstance(layer, NORMS):
        rank = {"1": 1, "2": 2, "3": 3}.get(type(layer).__name__[-2:-1], 2)
        return spatial(layer.num_features, rank) if rank > 1 else Tensor((BATCH, layer.num_features, SEQUENCE))
    match layer:
        case torch.nn.Linear() if not isinstance(layer, torch.nn.LazyLinear):
            return Tensor((BATCH, SEQUENCE, layer.in_features))
        case torch.nn.Embedding() | torch.nn.EmbeddingBag():
            return Tensor((BATCH, SEQUENCE), "long")
        case torch.nn.GroupNorm():
            return spatial(layer.num_channels, 2)
        case torch.nn.LayerNorm():
            shape = tuple(layer.normalized_shape)
            return Tensor((BATCH, SEQUENCE, *shape) if len(shape) == 1 else (BATCH, *shape))
        case torch.nn.TransformerEncoderLayer() | torch.nn.TransformerDecoderLayer():
            return input_of(layer.self_attn)
        case torch.nn.PReLU() if layer.num_parameters > 1:
            return spatial(layer.num_parameters, 2)
    return _divided_into_patches(layer)


def _starts_from_a_code(layer: Any) -> bool:
    """Return whether a transposed convolution makes the first, small map of a code."""
    return bool(layer.stride[0] == 1 and layer.padding[0] == 0 and layer.kernel_size[0] > 2)


def _divided_into_patches(layer: torch.nn.Module) -> Tensor | None:
    """Return the image or video that a layer of einops divides into patches."""
    pattern = getattr(layer, "pattern", None)
    if not isinstance(pattern, str) or not type(layer).__module__.startswith("einops."):
        return None
    left = pattern.partition("->")[0]
    divided = len(PATCHES.findall(left))
    return spatial(COLOURS, divided) if divided in (2, 3) and len(pattern_axes(pattern) or ()) == divided + 2 else None


def rank_of(layer: torch.nn.Module) -> int | None:
    """Return the rank of a batch of inputs, for layers that say nothing more."""
    name = type(layer).__name__
    dimensions = {"1d": 3, "2d": 4, "3d": 5}.get(name[-2:])
    return 4 if name in ("PixelShuffle", "Upsample", "Unfold") else dimensions


def inputs_of_layers(model: torch.nn.Module) -> Iterator[Tensor]:
    """Yield what the layers of a model take, in the order in which they were made."""
    for layer in module_tree.modules(model):
        taken = input_of(layer)
        if taken is not None:
            yield taken


def image_sizes(count: int) -> Group | None:
    """Return as many sizes of a batch of images, the last ones; None if there are not so many."""
    sizes = (BATCH, COLOURS, IMAGE, IMAGE)[-count:]
    return list_of(map(Size, sizes), "tuple") if len(sizes) == count else None
