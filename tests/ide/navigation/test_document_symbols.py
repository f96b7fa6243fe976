from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.index.index import SymbolId
from fxlsp.ide.navigation.document_symbols import Symbol, symbols
from fxlsp.ide.trace_view.instances import instance_choices
from fxlsp.source.text.positions import LineIndex
from tests.ide import navigable
from tests.ide.builder import PATH, Trace, edited, snapshot
from tests.ide.nets import TEXT


def test_the_outline_is_model_classes_and_their_forward() -> None:
    assert [(symbol.name, [child.name for child in symbol.children]) for symbol in symbols(snapshot(TEXT), PATH)] == [
        ("Block", ["forward"]),
        ("Net", ["forward"]),
    ]


def test_a_class_inside_another_is_its_child() -> None:
    text = """\
from torch import nn

class Outer(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            return x

    def forward(self, x):
        return x

class Other(nn.Module):
    pass
"""
    outer, other = symbols(snapshot(text), PATH)
    assert [child.name for child in outer.children] == ["forward", "Inner"]
    assert other.children == []


def described(symbols: list[Symbol], indent: str = "") -> list[str]:
    """The symbols as an indented list: name, detail, and what is selected."""
    lines = LineIndex(navigable.TEXT)
    return [
        line
        for each in symbols
        for line in (
            f"{indent}{each.name} | {each.detail} | {lines.slice(each.name_span).partition(chr(10))[0]}",
            *described(each.children, indent + "  "),
        )
    ]


def test_the_modules_of_a_class_are_below_it_at_the_lines_that_registered_them() -> None:
    block, double, net = symbols(snapshot(navigable.TEXT, navigable.trace().state()), PATH)
    assert described([net]) == [
        "Net |  | Net",
        "  forward |  | forward",
        "  stem | Conv2d · stem · (1, 4, 8, 8) | self.stem",
        "  layer | Sequential · layer · (1, 4, 8, 8) | self.layer",
        "    0 … 3 | 4 × Block · layer.0 … layer.3 · (1, 4, 8, 8) | Block()",
        "      conv | Conv2d · layer.0.conv · (1, 4, 8, 8) | Block()",
        "  mixed | ModuleList · mixed | self.mixed",
        "    0 | Block · mixed.0 · (1, 4, 8, 8) | nn.ModuleList([Block(), Double()])",
        "      conv | Conv2d · mixed.0.conv · (1, 4, 8, 8) | nn.ModuleList([Block(), Double()])",
        "    1 | Double · mixed.1 · (1, 4, 8, 8) | nn.ModuleList([Block(), Double()])",
        '  dyn | Double · dyn · (1, 4, 8, 8) | self.add_module("dyn", Double())',
        "  tail | Sequential · tail · (1, 512) | self.tail",
        "    0 | Conv2d · tail.0 · (1, 8, 8, 8) | nn.Conv2d(4, 8, 1)",
        "    1 | Flatten · tail.1 · (1, 512) | nn.Flatten()",
    ]
    assert described([block]) == [
        "Block | layer.0 (+5 more) | Block",
        "  forward |  | forward",
        "  conv | Conv2d · layer.0.conv · (1, 4, 8, 8) | self.conv",
    ]
    assert described([double]) == ["Double | mixed.1 (+1 more) | Double", "  forward |  | forward"]


def nesting_holds(symbol: Symbol) -> bool:
    inside = all(symbol.span.encloses(child.span) and nesting_holds(child) for child in symbol.children)
    return inside and symbol.span.encloses(symbol.name_span)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from torch import nn", "from torch import nn\n\nimport os"),
        ("self.layer = nn", "self.layers = nn"),
        ("self.tail = nn.Sequential(", "self.tail = nn.Sequential(  # ("),
        ("            nn.Conv2d(4, 8, 1),\n", "            nn.Conv2d(4, 8, 1\n"),
        ("class Net(nn.Module):\n", "class Net(nn.Module):\n    x = (\n"),
        ("        self.stem = nn.Conv2d(3, 4, 1)\n", ""),
        ("    def forward(self, x):\n        x = self.stem", "    def forward(self, x\n        x = self.stem"),
    ],
)
def test_each_symbol_lies_inside_the_one_above_whatever_is_being_typed(old: str, new: str) -> None:
    session = edited(snapshot(navigable.TEXT, navigable.trace().state()), old, new)
    found = symbols(session, PATH)
    assert [symbol.name for symbol in found] == ["Block", "Double", "Net"]
    assert all(nesting_holds(symbol) for symbol in found)
    names = [child.name for child in found[2].children]
    assert names == ["forward", "stem", "layer", "mixed", "dyn", "tail"]
    assert found[2].detail == "(stale)"


def test_a_line_that_was_edited_away_is_stood_for_by_the_class() -> None:
    session = edited(
        snapshot(navigable.TEXT, navigable.trace().state()), "        self.stem = nn.Conv2d(3, 4, 1)\n", ""
    )
    stem = symbols(session, PATH)[2].children[1]
    assert session.documents[PATH].lines.slice(stem.name_span) == "Net"
    assert stem.span == stem.name_span


def large(count: int, width: int) -> Trace:
    """A model of ``count`` blocks that differ from each other, each with ``width`` children that do too."""
    made = Trace(navigable.TEXT)
    made.call("", "Net", (0, 0), [], None, forward=navigable.FORWARD, forward_occurrence=2)
    for block in range(count):
        made.module(f"b{block}", f"Block{block}", "self.layer")
        for inner in range(width):
            made.module(f"b{block}.m{inner}", f"Leaf{inner}", "self.stem")
    return made


def test_of_a_large_model_the_deepest_modules_are_left_out() -> None:
    (net,) = [each for each in symbols(snapshot(navigable.TEXT, large(40, 30).state()), PATH) if each.name == "Net"]
    assert [child.name for child in net.children][1:] == [f"b{block}" for block in range(40)]
    assert [child.children for child in net.children] == [[]] * 41
    assert net.detail == ""


def test_of_very_many_modules_in_one_the_first_are_shown_and_the_class_says_so() -> None:
    (net,) = [each for each in symbols(snapshot(navigable.TEXT, large(600, 0).state()), PATH) if each.name == "Net"]
    assert len(net.children) == 501
    assert net.detail == "500 of 600 modules"


def test_shapes_of_a_guessed_recipe_are_marked() -> None:
    made = navigable.trace()
    made.recipe = replace(made.recipe, source="search")
    net = symbols(snapshot(navigable.TEXT, made.state()), PATH)[2]
    assert net.children[1].detail == "Conv2d · stem · ~(1, 4, 8, 8)"


def test_the_modules_are_those_of_the_instance_that_the_user_chose() -> None:
    session = snapshot(navigable.TEXT, navigable.trace().state())
    chosen = next(each for each in instance_choices(session, PATH, "Block") if "mixed.0" in each.text)
    session = replace(session, instances={SymbolId(PATH, "Block"): chosen.instance})
    block = symbols(session, PATH)[0]
    assert (block.detail, block.children[1].detail) == ("mixed.0 (+5 more)", "Conv2d · mixed.0.conv · (1, 4, 8, 8)")
