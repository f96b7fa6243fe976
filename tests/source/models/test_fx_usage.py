"""Telling whether a text uses torch.fx."""

from __future__ import annotations

import pytest

from fxlsp.source.models.fx_usage import fx_use, may_use_fx


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch.fx\n", "torch.fx"),
        ("import torch\ngraph = torch.fx.symbolic_trace(net)\n", "torch.fx"),
        ("from torch import nn, fx\n", "from torch import nn, fx"),
        ("from torch.fx import symbolic_trace  # here\n", "torch.fx"),
        ("from torch.ao.quantization.quantize_fx import prepare_fx\n", "quantize_fx"),
        ("from torchvision.models.feature_extraction import create_feature_extractor\n", "create_feature_extractor"),
        ("# torch.fx\nimport torch.fx\n", "torch.fx"),
    ],
)
def test_what_of_torch_fx_is_used_is_named(text: str, words: str) -> None:
    assert fx_use(text) == words
    assert may_use_fx(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "import torch\nfrom torch import nn\n", "x = 1  # no torch.fx\n", "torch.fxs\n", "my_prepare_fx = 3\n"],
)
def test_other_text_does_not_use_it(text: str) -> None:
    assert fx_use(text) is None
