from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.index.index import Index
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.workspace_symbols import class_target, workspace_symbols
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import LineIndex
from tests.ide.builder import PATH, edited, snapshot
from tests.ide.navigable import TEXT, trace

OTHER = """\
from torch import nn


class Config:
    pass


class Encoder(nn.Module):
    class Layer(nn.Module):
        def forward(self, x):
            return x

    def forward(self, x):
        return x
"""


def traced() -> Snapshot:
    other = Document("file:///project/other.py", "/project/other.py", None, OTHER)
    return replace(snapshot(TEXT, trace().state()), index=Index({other.path: file_summary_of(other)}))


def names(query: str, most: int = 100) -> list[str]:
    return [found.name for found in workspace_symbols(traced(), query, most)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("layer.0.conv", "Net.layer.0.conv"),
        ("Net.layer", "Net.layer"),
        ("net.layer", "Net.layer"),
        ("layer.0", "Net.layer.0"),
        ("stem", "Net.stem"),
        ("Block", "Block"),
        ("l0cv", "Net.layer.0.conv"),
        ("Encoder", "Encoder"),
        ("Encoder.L", "Encoder.Layer"),
        ("  net . tail.1 ", "Net.tail.1"),
    ],
)
def test_a_module_is_found_by_its_path_and_a_class_by_its_name(query: str, first: str) -> None:
    assert names(query)[0] == first


@pytest.mark.parametrize("query", ["Config", "nothing", "layer.9", "conv.layer", "[^", "x" * 500])
def test_what_is_no_model_or_has_other_letters_is_not_found(query: str) -> None:
    assert names(query) == []


def test_an_empty_query_finds_as_much_as_there_may_be() -> None:
    assert {"Net", "Block", "Double", "Encoder", "Encoder.Layer", "Net.stem", "Net.layer.3.conv"} <= set(names(""))
    assert len(names("", most=3)) == 3


def test_a_symbol_is_located_at_the_line_that_registered_the_module() -> None:
    session = traced()
    lines = session.documents[PATH].lines
    for query, text in [("layer", "self.layer"), ("layer.0", "Block()"), ("tail.0", "nn.Conv2d(4, 8, 1)")]:
        found = workspace_symbols(session, query)[0]
        assert found.target is not None
        assert lines.slice(found.target.span) == text
        assert found.path == PATH
    assert workspace_symbols(session, "layer.0")[0].container == "Block"


def test_places_move_with_the_edits_and_those_edited_away_are_left_out() -> None:
    session = edited(traced(), "from torch import nn\n", "from torch import nn\n\n")
    (found,) = workspace_symbols(session, "Net.stem")
    assert found.target is not None
    assert session.documents[PATH].lines.slice(found.target.span) == "self.stem"
    session = edited(session, "self.stem = ", "self.steam = ")
    assert workspace_symbols(session, "Net.stem") == []


def test_a_model_that_is_traced_in_two_ways_is_found_once() -> None:
    first = trace().state()
    second = replace(first, key=replace(first.key, recipe=trace().recipe), pinned=True)
    found = workspace_symbols(snapshot(TEXT, first, second), "Net.stem")
    assert [each.name for each in found] == ["Net.stem"]


def test_the_class_of_a_file_that_is_not_open_is_found_in_its_text() -> None:
    (found,) = workspace_symbols(traced(), "Encoder.Layer")
    assert found.target is None
    document = Document("file:///project/other.py", found.path, None, OTHER)
    target = class_target(document, found.name)
    assert target is not None
    assert (LineIndex(OTHER).slice(target.span), target.span.line) == ("Layer", 9)
    assert class_target(document, "Encoder.Gone") is None
