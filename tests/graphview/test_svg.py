"""SVG files: the same picture without a browser."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from fxlsp.graphview import svg
from fxlsp.graphview.picture import picture_of
from fxlsp.graphview.svg import SvgError, svg_of_picture
from fxlsp.report.report import Report

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
