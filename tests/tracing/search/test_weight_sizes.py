"""Which sizes of a run come from parameters of the model."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from fxlsp.tracing.search.rules.sizes import misfit_of
from fxlsp.tracing.search.trials.runner import TorchCall
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


def test_parts_have_the_fixed_sizes_however_their_number_is_given() -> None:
    whole = torch.ones(2, 6, 4)
    for args, options in (((2, 1), {}), ((2,), {"dim": 1}), ((), {"chunks": 2, "dim": 1})):
        sizes, parts = WeightSizes([whole]), whole.chunk(2, 1)
        sizes.note("chunk", (whole, *args), options, parts)
        assert all(sizes.is_fixed(part, 2) for part in parts)


def test_a_call_that_is_unlike_others_does_not_fail_for_what_is_noted_of_it() -> None:
    sizes = WeightSizes([torch.ones(2, 6)])
    sizes.note("transpose", (object(), "x"), {"dim0": None}, None)
    sizes.note("flatten", (), {"input": torch.ones(2, 6)}, torch.ones(12))


def test_what_an_activation_returned_stays_known_when_its_axes_are_moved_and_not_behind_a_layer() -> None:
    given, weight = torch.ones(2, 6, 4), torch.ones(5, 6)
    sizes, scores = WeightSizes([weight]), given + 1
    sizes.note("softmax", (given, -1), {}, scores)
    moved, one, two = scores.transpose(1, 2), *scores.chunk(2, 1)
    sizes.note("transpose", (scores, 1, 2), {}, moved)
    sizes.note("chunk", (scores, 2, 1), {}, (one, two))
    behind = functional.linear(moved, weight)
    sizes.note("linear", (moved, weight), {}, behind)
    assert [sizes.is_activated(each) for each in (given, scores, moved, one, two, behind)] == [
        False,
        *[True] * 4,
        False,
    ]
    assert sizes.has_fitted(torch.zeros(5, 6))
    assert not sizes.has_fitted(torch.zeros(6, 5))


def test_only_a_pooling_to_one_place_states_an_edge_that_no_map_has() -> None:
    weight, given = torch.ones(5, 3, 1, 1), torch.ones(2, 5, 4, 4)
    sizes, pooled = WeightSizes([weight]), given[:, :, :3, :1]
    sizes.note("conv2d", (torch.ones(2, 3, 4, 4), weight), {}, given)
    sizes.note("adaptive_avg_pool2d", (given, (3, 1)), {}, pooled)
    assert [sizes.is_fixed(pooled, at) for at in range(4)] == [False, True, False, True]


@pytest.mark.parametrize("weight", [None, torch.ones(24, 16)])
def test_attention_with_weights_of_their_own_may_lack_some_of_them(weight: torch.Tensor | None) -> None:
    given, own = torch.ones(2, 3, 24), torch.ones(24, 24)
    named = {"q_proj_weight": own, "k_proj_weight": weight, "v_proj_weight": own, "use_separate_proj_weight": True}
    misfit = misfit_of(TorchCall("multi_head_attention_forward", (given, given, given, 24, 4), named))
    assert (None if misfit is None else (misfit.got, misfit.want)) == (None if weight is None else (24, 16))
