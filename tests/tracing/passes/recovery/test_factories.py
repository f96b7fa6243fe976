"""Functions that make tensors of sizes and meet traced ones where they take numbers alone."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

MADE = {
    "zeros": Case("return x.sum() + ⟦torch.zeros(x.shape[0], 3)⟧"),
    "ones": Case("return x.sum() + ⟦torch.ones(x.size(0), x.size(1))⟧"),
    "empty": Case("y = ⟦torch.empty(x.size(0), 3)⟧\nreturn x.sum() + y.zero_()"),
    "rand": Case("return x.sum() + ⟦torch.rand(x.shape[0], 3)⟧"),
    "randn": Case("return x + ⟦torch.randn(x.shape[0], x.shape[1])⟧"),
    "sizes of their own": Case("n, m = x.shape\ny = ⟦torch.zeros(n, m)⟧\nreturn x + y"),
    "an import of its own": Case("return x.sum() + ⟦zeros(x.size(0), 3)⟧", top="from torch import zeros"),
    "a device": Case("return x.sum() + ⟦torch.zeros(x.shape[0], 3, device=x.device)⟧"),
    "a tensor of sizes": Case("return x.sum() + ⟦torch.tensor(x.shape)⟧"),
    "a tensor of a list": Case("return x.sum() + ⟦torch.tensor([x.size(0), x.size(1)])⟧"),
    "a tensor of tensors": Case("return ⟦torch.tensor([x.sum()])⟧"),
    "a repeated list": Case("return x.sum() + ⟦torch.tensor([0] * x.shape[0])⟧"),
    "a size": Case("return x.reshape(⟦torch.Size([x.shape[0], 4])⟧)"),
    "a mask": Case("mask = torch.triu(⟦torch.ones(x.size(0), x.size(0))⟧, diagonal=1)\nreturn x.sum() + mask"),
    "a comprehension": Case("return [⟦torch.zeros(n, 2)⟧ + x.sum() for n in (x.size(0),)]"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_tensor_of_traced_sizes_is_located_at_the_call(name: str, stands: Stands) -> None:
    stands(MADE[name], "FX106")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_tensor_of_traced_sizes_is_located_at_the_call_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(MADE, "FX106", spelling)


TRACES = {
    "a tuple of sizes": Case("return x.sum() + torch.zeros((x.shape[0], 3))", needs="parsers"),
    "a size that comes later": Case("return x.sum() + torch.zeros(1, x.shape[0], 4)", needs="parsers"),
    "a device": Case("return x.sum() + torch.zeros((x.shape[0], 3), device=x.device)", needs="parsers"),
    "the shape": Case("return x + torch.zeros(x.shape)", needs="parsers"),
    "like another": Case("return x + torch.zeros_like(x) + torch.full_like(x, 2.0)"),
    "new_zeros": Case("return x + x.new_zeros(x.size(0), 4) + x.new_ones(x.shape)"),
    "arange": Case("return x + torch.arange(x.size(1)) + torch.arange(0, x.size(1), device=x.device)", needs="parsers"),
    "full": Case("return x.sum() + torch.full((x.size(0), 3), 1.0)", needs="parsers"),
    "eye": Case("return x.sum() + torch.eye(x.size(0))", needs="parsers"),
    "linspace": Case("return x.sum() + torch.linspace(0, 1, x.size(0))", needs="parsers"),
    "a reshape": Case("return x.reshape(x.size(1), x.size(0)).view((4, -1)).view(x.shape)"),
    "a constant": Case("return x + torch.zeros(3, 4)"),
}


@pytest.mark.parametrize("name", TRACES)
def test_tensors_of_sizes_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
