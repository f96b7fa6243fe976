"""What a library says by convention about the inputs of its models."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

import torch


def input_text(model: torch.nn.Module, target: Any, module: ModuleType) -> str | None:
    """The argument text that the model's own library would use; None where no convention is known."""
    return _torchvision_input(target)


def _torchvision_input(factory: Any) -> str | None:
    """By the crop of torchvision's weights enum, which its factories take as the default of ``weights``.

    Source: the ``weights`` parameter and ``Weights.transforms`` of the "Models and pre-trained weights" page.
    """
    if not callable(factory) or not getattr(factory, "__module__", "").startswith("torchvision.models."):
        return None
    try:
        # Its submodule made the factory: the package is loaded, and fxlsp itself needs no torchvision.
        weights = sys.modules["torchvision.models"].get_model_weights(factory.__name__)
        transforms = weights.DEFAULT.transforms
    except (KeyError, ValueError, AttributeError):
        return None
    crop = inspect.signature(transforms).parameters.get("crop_size")
    keywords = getattr(transforms, "keywords", {})
    size = keywords.get("crop_size", None if crop is None else crop.default)
    if isinstance(size, (list, tuple)):
        height, width = size[0], size[-1]
    elif isinstance(size, int):
        height = width = size
    else:
        return None
    return f"torch.randn(1, 3, {height}, {width})"
