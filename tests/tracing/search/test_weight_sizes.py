"""Which sizes of a run come from parameters of the model."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from fxlsp.tracing.search.trials.weight_sizes import WeightSizes


def fixed(name: str, args: tuple[torch.Tensor, ...], weights: list[torch.Tensor], result: torch.Tensor) -> list[int]:
    sizes = WeightSizes(weights)
    sizes.note(name, args, {}, result)
    return [dimension for dimension in range(result.dim()) if sizes.is_fixed(result, dimension)]


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 6), (2, 6, 5), (2, 6, 6, 6)])
@pytest.mark.parametrize("name", ["batch_norm", "instance_norm", "group_norm"])
def test_channels_of_a_normalisation_are_the_second_dimension(name: str, shape: tuple[int, ...]) -> None:
    given, weight, bias = torch.ones(shape), torch.ones(6), torch.zeros(6)
    assert fixed(name, (given, weight, bias), [weight, bias], given + 1) == [1]


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_features_of_a_normalisation_are_the_last_dimension(name: str) -> None:
    given, weight = torch.ones(2, 6, 6), torch.ones(6)
    assert fixed(name, (given, weight), [weight], given + 1) == [2]


def test_features_of_a_linear_layer_are_the_last_dimension() -> None:
    given, weight = torch.ones(2, 6, 4), torch.ones(3, 4)
    assert fixed("linear", (given, weight), [weight], functional.linear(given, weight)) == [2]


def test_what_no_parameter_decides_on_is_not_fixed() -> None:
    given = torch.ones(2, 6, 6)
    assert fixed("batch_norm", (given,), [torch.ones(6)], given + 1) == []


def test_a_size_of_one_is_fixed_where_every_operand_has_it_from_parameters() -> None:
    given, other = torch.ones(2, 6, 1), torch.ones(2, 6, 1)
    assert fixed("softmax", (given,), [given], given + 1) == [0, 1, 2]
    assert fixed("mul", (given, other), [given], given * other) == [0, 1]
    assert fixed("mul", (given, other), [given, other], given * other) == [0, 1, 2]


def test_a_pooling_keeps_the_channels_and_an_adaptive_one_states_the_edges() -> None:
    weight, given = torch.ones(5, 3, 1, 1), torch.ones(2, 5, 4, 4)
    sizes = WeightSizes([weight])
    sizes.note("conv2d", (torch.ones(2, 3, 4, 4), weight), {}, given)
    pooled, averaged = given[:, :, ::2, ::2], given[:, :, :1, :1]
    sizes.note("max_pool2d", (given, 2), {}, pooled)
    sizes.note("adaptive_avg_pool2d", (given, (1, 1)), {}, averaged)
    assert [sizes.is_fixed(pooled, at) for at in range(4)] == [False, True, False, False]
    assert [sizes.is_fixed(averaged, at) for at in range(4)] == [False, True, True, True]
    flat, other, named = averaged.flatten(1), pooled.flatten(1), averaged.flatten(start_dim=1)
    sizes.note("flatten", (averaged, 1), {}, flat)
    sizes.note("flatten", (pooled, 1), {}, other)
    sizes.note("flatten", (averaged,), {"start_dim": 1}, named)
    assert [sizes.is_fixed(each, 1) for each in (flat, other, named)] == [True, False, False]
    assert not any(sizes.is_fixed(each, 0) for each in (flat, other, named))
