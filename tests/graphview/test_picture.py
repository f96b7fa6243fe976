"""What of a report there is to draw, from real traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fxlsp.graphview.boxes import LARGEST_LEVEL, Box, root_box
from fxlsp.graphview.picture import Picture, marked_nodes, picture_of
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report

ReportOf = Callable[[str, str], Report]


def box_at(picture: Picture, path: str) -> int:
    return next(number for number, box in enumerate(picture["boxes"]) if box["path"] == path)


def inside(picture: Picture, path: str) -> list[str]:
    """Names of the nodes directly in a box."""
    number = box_at(picture, path)
    return [node["name"] for node in picture["nodes"] if node["parent"] == number]


def boxes(box: Box) -> Iterator[Box]:
    yield box
    for child in box.children:
        if isinstance(child, Box):
            yield from boxes(child)


def test_a_node_is_in_the_box_of_the_module_that_holds_it(resnet: Report) -> None:
    picture = picture_of(resnet)
    assert inside(picture, "layer1.0") == [
        f"layer1_0_{name}" if name != "add" else "add"
        for name in ("conv1", "bn1", "relu", "conv2", "bn2", "shortcut", "add", "relu_1")
    ]
    assert [box["path"] for box in picture["boxes"]][:4] == ["", "stem", "layer1", "layer1.0"]
    assert inside(picture, "")[0] == "x"
    assert inside(picture, "")[-1] == "output"


def test_each_node_is_drawn_once_and_each_argument_is_an_edge(resnet: Report) -> None:
    picture = picture_of(resnet)
    assert [node["name"] for node in picture["nodes"]] == [node.name for node in resnet.nodes]
    add = next(node for node in picture["nodes"] if node["name"] == "add")
    assert [picture["nodes"][number]["name"] for number in add["inputs"]] == ["layer1_0_bn2", "layer1_0_shortcut"]
    assert sorted(root_box(resnet).nodes()) == list(range(len(resnet.nodes)))


def test_nodes_and_boxes_say_shape_cost_and_place(resnet: Report) -> None:
    picture = picture_of(resnet)
    node = next(node for node in picture["nodes"] if node["name"] == "layer1_0_conv1")
    assert (node["title"], node["kind"], node["path"]) == ("conv1", "Conv2d", "layer1.0.conv1")
    assert node["flow"] == "(1, 32, 32, 32) → (1, 32, 32, 32)"
    assert node["cost"] == "18.9 MFLOPs · 9.22 K params"
    place = node["place"]
    assert place is not None
    line = Path(picture["files"][place["file"]]).read_text(encoding="utf-8").splitlines()[place["line"] - 1]
    assert "self.conv1(x)" in line
    box = picture["boxes"][box_at(picture, "layer1")]
    assert (box["title"], box["kind"], box["count"]) == ("layer1", "Sequential", 16)
    assert box["cost"] == "75.5 MFLOPs · 37.1 K params"
    assert picture["boxes"][0]["share"] == 1.0


def test_the_shapes_of_a_guessed_recipe_are_marked(resnet: Report) -> None:
    guessed = replace(resnet, recipe=replace(resnet.recipe, source="search"))
    assert picture_of(guessed)["nodes"][0]["shape"] == "~(1, 3, 64, 64)"


def test_a_problem_marks_the_node_that_the_expression_becomes(early_exit: Report) -> None:
    picture = picture_of(early_exit)
    (problem,) = picture["problems"]
    assert (problem["code"], problem["severity"]) == ("FX101", "warning")
    assert [picture["nodes"][number]["name"] for number in problem["nodes"]] == ["gt"]
    assert [node["name"] for node in picture["nodes"] if node["problems"]] == ["gt"]


def test_what_the_recovering_pass_found_is_marked(early_exit: Report) -> None:
    states = {node["name"]: node["state"] for node in picture_of(early_exit)["nodes"]}
    assert (states["gt"], states["answer"]) == ("", "recovered")


def test_a_problem_without_a_node_marks_the_box_around_its_module(resnet: Report) -> None:
    problem = Problem("FX501", "info", "is never called", None, module_path="layer1.0.unused")
    picture = picture_of(replace(resnet, problems=(problem,)))
    assert picture["problems"][0]["nodes"] == []
    assert [box["path"] for box in picture["boxes"] if box["problems"]] == ["layer1.0"]


def test_a_problem_on_a_call_marks_what_the_call_made(resnet: Report) -> None:
    """It stands on ``self.layer1(x)``, which is no node itself."""
    call = next(call for call in resnet.calls if call.module_path == "layer1")
    marked = marked_nodes(Problem("FX402", "error", "fails", call.location), resnet.nodes)
    assert {resnet.nodes[number].module_path for number in marked} > {"layer1.0.conv1", "layer1.1.conv1"}


def test_each_call_of_a_module_has_a_box_of_its_own(report_of: ReportOf) -> None:
    report = report_of(
        """
        import torch
        from torch import nn

        class Block(nn.Module):
            def forward(self, x):
                return torch.relu(x) + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()
                self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

            def forward(self, x):
                x = self.block(self.block(x))
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
        "torch.ones(2, 3)",
    )
    picture = picture_of(report)
    assert [box["title"] for box in picture["boxes"]] == ["Net", "block (1 of 2)", "block (2 of 2)", "layers"]
    assert [box["count"] for box in picture["boxes"]] == [8, 2, 2, 2]


@pytest.mark.parametrize("count", [LARGEST_LEVEL + 1, 40 * LARGEST_LEVEL])
def test_a_level_with_many_children_is_divided_into_groups(report_of: ReportOf, count: int) -> None:
    report = report_of(
        f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                for _ in range({count}):
                    x = x + 1
                return x
        """,
        "torch.ones(3)",
    )
    root = root_box(report)
    assert max(len(box.children) for box in boxes(root)) <= LARGEST_LEVEL
    assert list(root.nodes()) == list(range(len(report.nodes)))
    assert len(report.nodes) == count + 2
    picture = picture_of(report)
    assert picture["boxes"][1]["title"].startswith("x … add_")
    assert picture["boxes"][1]["path"] == ""
