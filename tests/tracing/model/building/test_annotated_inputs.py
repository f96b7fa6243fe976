"""Inputs that annotations of jaxtyping state."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import pytest
import torch
from torch import nn

from fxlsp.tracing.model.building.evaluation import default_inputs, evaluate_arguments


@dataclass(frozen=True)
class Annotation:
    """Annotation with the attributes that those of jaxtyping have."""

    dim_str: str
    dtypes: list[str]


CASES = {
    "floats": ("2 3", ["float32"], "x=torch.randn(2, 3)", (2, 3)),
    "integers": ("batch 3", ["int64"], "x=torch.zeros(2, 3, dtype=torch.long)", (2, 3)),
    "one dimension": ("5", ["int64"], "x=torch.zeros(5, dtype=torch.long)", (5,)),
    "a float without dimensions": ("", ["float32"], "x=torch.randn(())", ()),
    "an integer without dimensions": ("", ["int64"], "x=torch.zeros((), dtype=torch.long)", ()),
}


@pytest.mark.parametrize("name", CASES)
def test_an_annotated_tensor_is_made_with_its_sizes(name: str) -> None:
    dimensions, dtypes, text, shape = CASES[name]

    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    Net.forward.__annotations__["x"] = Annotation(dimensions, dtypes)
    module = ModuleType("net")
    assert default_inputs(Net(), Net) == (text, "default")
    assert evaluate_arguments(text, module).kwargs["x"].shape == shape
