"""Cases of torchvision and timm."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from benchmarks.corpora.cases import Case

_SIZES = {"inception_v3": 299, "quantized_inception_v3": 299}
_INPUTS = {
    "detection": "[torch.rand(3, 300, 400)]",
    "optical_flow": "torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128)",
    "video": "torch.randn(1, 3, 16, 112, 112)",
}
_VIDEOS = "torch.randn(1, 3, 16, 224, 224)"


def torchvision_cases() -> Iterator[Case]:
    """Yield every model that torchvision lists, without weights and in ``eval()``.

    Detection models require targets in training.
    """
    import torchvision

    for name in torchvision.models.list_models():
        builder = torchvision.models.get_model_builder(name)
        kind = builder.__module__.removeprefix("torchvision.models.").partition(".")[0]
        size = _SIZES.get(name, 224)
        inputs = _INPUTS.get(kind, f"torch.randn(1, 3, {size}, {size})")
        if name.startswith(("mvit", "s3d", "swin3d")):
            inputs = _VIDEOS
        backbone = "weights_backbone=None" if "weights_backbone" in inspect.signature(builder).parameters else ""
        init = f"{builder.__name__}({backbone}).eval()"
        yield Case(f"torchvision:{name}", None, builder.__module__, builder.__name__, init, inputs)


def timm_cases() -> Iterator[Case]:
    """Yield the smallest model of each module of timm.

    It is in the mode in which it is constructed: training.
    """
    import timm
    from timm.models import get_pretrained_cfg, model_entrypoint

    for family in timm.list_modules():
        name = _smallest(family, timm.list_models(module=family))
        if name is None:
            continue
        entry = model_entrypoint(name)
        config = get_pretrained_cfg(name)
        size = ", ".join(map(str, config.input_size if config is not None else (3, 224, 224)))
        yield Case(
            f"timm:{name}",
            None,
            entry.__module__,
            entry.__name__,
            f"{entry.__name__}(pretrained=False)",
            f"torch.randn(1, {size})",
        )


def _smallest(family: str, names: list[str]) -> str | None:
    """Return the model of a family with the fewest parameters, built on ``meta``.

    Of many, only those whose name indicates a small model are constructed.
    """
    likely = [name for name in names if _SMALL.search(name)][:_AT_MOST]
    counts = {name: count for name in likely or names[:_AT_MOST] if (count := _parameters(name)) is not None}
    return min(counts, key=lambda name: counts[name]) if counts else None


_SMALL = re.compile(
    r"^test_|atto|femto|pico|nano|tiny|xx?_?small|xxs|_xs|_s\b|_s_|small|mini|_0?50|b0|s0|t0|m0|l0|18|10"
)
_AT_MOST = 6


def _parameters(name: str) -> int | None:
    import timm
    import torch

    try:
        with torch.device("meta"):
            model: Any = timm.create_model(name, pretrained=False)
    except Exception:
        # A constructor that computes with its tensors cannot be run on meta.
        return None
    return sum(int(parameter.numel()) for parameter in model.parameters())
