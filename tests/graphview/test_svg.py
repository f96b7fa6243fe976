"""SVG files: the same picture without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from fxlsp.graphview import svg
from fxlsp.graphview.picture import picture_of
from fxlsp.graphview.svg import SvgError, svg_of_picture
from fxlsp.report.report import Report
from tests.graphview.random_reports import random_report

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> set[int]:
    """Numbers of the nodes that a file holds; it has to be well-formed."""
    groups = ElementTree.fromstring(text).iter(f"{NAMESPACE}g")
    return {int(group.attrib["data-id"]) for group in groups if "node" in group.attrib.get("class", "").split()}


@pytest.mark.usefixtures("engine")
def test_every_node_is_in_the_file(resnet: Report) -> None:
    text = svg_of_picture(picture_of(resnet))
    assert drawn(text) == set(range(len(resnet.nodes)))
    assert "var(--" not in text


@pytest.mark.usefixtures("engine")
def test_closed_modules_hide_what_they_hold(resnet: Report) -> None:
    numbers = drawn(svg_of_picture(picture_of(resnet), depth=0))
    assert [resnet.nodes[number].name for number in sorted(numbers)] == ["x", "pool", "flatten", "head", "output"]


@pytest.mark.usefixtures("engine")
def test_a_name_of_any_characters_leaves_it_well_formed(resnet: Report) -> None:
    nodes = (replace(resnet.nodes[0], name="a<b>&\"'\0\x1b]]>", target="x"), *resnet.nodes[1:])
    assert drawn(svg_of_picture(picture_of(replace(resnet, nodes=nodes)), depth=0))


def test_without_an_engine_it_says_what_to_install(resnet: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "_PACKAGE", "there_is_no_such_engine")
    with pytest.raises(SvgError, match=r"pip install 'fxlsp\[svg\]'"):
        svg_of_picture(picture_of(resnet))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("seed", "count"), [(0, 0), (1, 1), (2, 40), (3, 120)])
def test_any_graph_can_be_drawn_and_every_edge_ends_at_something(seed: int, count: int) -> None:
    text = svg_of_picture(picture_of(random_report(seed, count)))
    assert drawn(text) == set(range(count))
    boxes = borders(text)
    paths = ElementTree.fromstring(text).iter(f"{NAMESPACE}path")
    edges = [path.attrib["d"] for path in paths if path.attrib["class"].strip() == "edge"]
    assert len(edges) >= count - 1
    for edge in edges:
        points = re.findall(r"(-?[\d.]+) (-?[\d.]+)", edge)
        for x, y in (points[0], points[-1]):
            assert any(is_on(float(x), float(y), box) for box in boxes), edge


Border = tuple[float, float, float, float]


def borders(text: str) -> list[Border]:
    """Left, top, right and bottom of everything that an edge can end at."""
    found = []
    for group in ElementTree.fromstring(text).iter(f"{NAMESPACE}g"):
        shell = group.find(f"{NAMESPACE}rect[@class='shell']")
        place = re.findall(r"-?[\d.]+", group.attrib.get("transform", ""))
        if shell is not None and place:
            left, top = map(float, place)
            found.append((left, top, left + float(shell.attrib["width"]), top + float(shell.attrib["height"])))
    return found


def is_on(x: float, y: float, border: Border) -> bool:
    """A point is on the upper or lower side, give or take what rounding costs."""
    left, top, right, bottom = border
    return left - 1 <= x <= right + 1 and (abs(y - top) < 1 or abs(y - bottom) < 1)
