"""Copies of fake tensors belong to the same fake mode, and have what the originals have."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from fxlsp.tracing.model.building.fake_tensors import CopiesOfFakes, new_fake_mode

MODE = new_fake_mode()


@pytest.fixture
def layer() -> nn.Module:
    with MODE:
        made = nn.Linear(512, 512)
        made.register_buffer("positions", torch.zeros(512, 512))
    return made


def test_a_copy_is_of_the_same_mode_and_apart(layer: nn.Module) -> None:
    with CopiesOfFakes():
        copied = copy.deepcopy(layer)
    for tensor, other in zip(layer.state_dict().values(), copied.state_dict().values(), strict=True):
        assert other is not tensor
        assert other.fake_mode is MODE
    assert isinstance(copied.weight, nn.Parameter)


def test_attributes_and_the_need_of_a_gradient_are_copied(layer: nn.Module) -> None:
    layer.positions.scale = [2.0]  # type: ignore[union-attr]
    layer.positions.requires_grad_()
    layer.weight.requires_grad_(False)
    with CopiesOfFakes():
        copied = copy.deepcopy(layer)
    assert copied.positions.scale == [2.0]  # type: ignore[union-attr]
    assert copied.positions.scale is not layer.positions.scale  # type: ignore[union-attr]
    assert copied.positions.requires_grad
    assert not copied.weight.requires_grad


def test_a_tensor_in_two_places_is_copied_once(layer: nn.Module) -> None:
    with CopiesOfFakes():
        one, other = copy.deepcopy((layer.weight, layer.weight))
    assert one is other
