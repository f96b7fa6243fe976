"""Windows are known of layers and functions that slide one; other arguments are no window."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.fx

from fxlsp.tracing.passes.symbolic.windows import windows_of


def node_of(function: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
    graph = torch.fx.Graph()
    return graph.call_function(function, (graph.placeholder("x"), *args), kwargs)


def layer_node() -> torch.fx.Node:
    graph = torch.fx.Graph()
    return graph.call_module("layer", (graph.placeholder("x"),))


@pytest.mark.parametrize(
    ("layer", "windows"),
    [
        (torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), [(2, 1)]),
        (torch.nn.Conv2d(3, 8, (3, 5)), [(1, -2), (1, -4)]),
        (torch.nn.MaxPool2d(2), [(2, 0)]),
        (torch.nn.MaxPool2d(2, ceil_mode=True), [(2, 1)]),
        (torch.nn.Linear(3, 8), []),
    ],
)
def test_a_layer_slides_a_window(layer: torch.nn.Module, windows: list[tuple[int, int]]) -> None:
    assert windows_of(layer_node(), layer) == windows


@pytest.mark.parametrize("name", ["kernel_size", "stride", "padding", "dilation"])
def test_a_layer_of_four_dimensions_is_none_that_is_known(name: str) -> None:
    class Four(torch.nn.Module):
        kernel_size: tuple[int, ...] = (3, 3)
        stride: tuple[int, ...] = (1, 1)
        padding: tuple[int, ...] = (0, 0)
        dilation: tuple[int, ...] = (1, 1)

    layer = Four()
    assert windows_of(layer_node(), layer) == [(1, -2)]
    setattr(layer, name, (2, 2, 2, 2))
    assert windows_of(layer_node(), layer) == []


def test_functions_slide_a_window_if_its_size_is_an_argument() -> None:
    assert windows_of(node_of(torch.nn.functional.max_pool2d, 3, stride=2, padding=1), None) == [(2, 1)]
    assert windows_of(node_of(torch.nn.functional.conv2d, torch.ones(8, 3, 3, 3)), None) == []
    assert windows_of(node_of(torch.relu), None) == []
