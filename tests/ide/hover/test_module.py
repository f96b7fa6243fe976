from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot, Status
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.hover.text import HoverText
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor

TEXT = """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 1)
        self.idle = nn.Linear(2, 2)

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.blocks = nn.ModuleList([Block(4) for _ in range(3)])

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return x[self.blocks[1].conv.groups]
"""
IMAGE, WIDE = tensor(1, 3, 8, 8), tensor(1, 4, 6, 6)


def trace() -> Trace:
    made = Trace(TEXT)
    made.call("", "Net", (0, 5), [IMAGE], WIDE, forward="    def forward(self, x):\n        x =", params=118)
    made.module("stem", "Conv2d(3, 4)", made="nn.Conv2d(3, 4, 3)", params=100, calls=1)
    made.module("blocks", "ModuleList", made="nn.ModuleList([Block(4) for _ in range(3)])", params=18, calls=0)
    made.leaf("stem", "self.stem(x)", "Conv2d(3, 4)", IMAGE, WIDE, params=100)
    for index in range(3):
        path = f"blocks.{index}"
        made.module(path, "Block", made="Block(4)", params=6, calls=1)
        made.module(f"{path}.conv", "Conv2d(4, 4)", made="nn.Conv2d(width, width, 1)", params=4, calls=1)
        made.module(f"{path}.idle", "Linear(2, 2)", made="nn.Linear(2, 2)", params=2, calls=0)
        forward = "    def forward(self, x):\n        return self.conv"
        made.call(path, "Block", (index + 1, index + 2), [WIDE], WIDE, at="block(x)", forward=forward)
        made.leaf(f"{path}.conv", "self.conv(x)", "Conv2d(4, 4)", WIDE, WIDE, params=4)
    made.nodes = [replace(node, flops=3000 if node.target == "stem" else 1000) for node in made.nodes]
    return made


def at(shown: Snapshot, expression: str, offset: int = 1) -> HoverText | None:
    location = place(shown.documents[PATH].text, expression)
    return hover(shown, PATH, location.line, location.column + offset)


def lines_at(expression: str, offset: int = 1, shown: Snapshot | None = None) -> list[str]:
    found = at(snapshot(TEXT, trace().state()) if shown is None else shown, expression, offset)
    assert found is not None
    return found.text.plain.split("\n")


def test_a_construction_shows_where_its_module_is_used_and_with_which_shapes() -> None:
    lines = lines_at("nn.Conv2d(width, width, 1)")
    assert lines[0] == "Conv2d(4, 4) · module paths blocks.{0..2}.conv · 4 parameters each · 3 calls"
    assert lines[1].split() == ["module", "path", "in", "out", "parameters", "FLOPs"]
    assert lines[2] == "blocks.{0..2}.conv  (1, 4, 6, 6)  (1, 4, 6, 6)           4  1 KFLOPs"
    assert lines[3].startswith("Net: Net()(torch.randn(1, 3))")


def test_a_module_that_is_used_once_shows_its_shapes_on_the_first_line() -> None:
    assert lines_at("nn.Conv2d(3, 4, 3)")[0] == (
        "Conv2d(3, 4) · module path stem · 100 parameters · (1, 3, 8, 8) → (1, 4, 6, 6)"
    )


def test_a_construction_of_what_is_never_called_says_so() -> None:
    assert lines_at("nn.Linear(2, 2)")[0] == (
        "Linear(2, 2) · module paths blocks.{0..2}.idle · 2 parameters each · not called"
    )


def test_the_innermost_construction_answers() -> None:
    assert lines_at("Block(4)")[0].startswith("Block · module paths blocks.{0..2}")
    assert lines_at("nn.ModuleList")[0].startswith("ModuleList · module path blocks")


def test_an_attribute_shows_the_modules_below_it() -> None:
    for place_of_name in ("self.blocks = ", "self.blocks:"):
        lines = lines_at(place_of_name, len("self.b"))
        assert lines[0] == "ModuleList · module path blocks · 18 parameters"
        assert lines[1].split() == ["child", "module", "parameters", "share", "FLOPs", "share"]
        assert lines[2].split() == ["0..2", "3", "×", "Block", "18", "100", "%", "3", "KFLOPs", "100", "%"]


def test_an_attribute_behind_a_constant_index_is_followed() -> None:
    assert lines_at("self.blocks[1].conv", len("self.blocks[1].c"))[0] == (
        "Conv2d(4, 4) · module path blocks.1.conv · 4 parameters · (1, 4, 6, 6) → (1, 4, 6, 6)"
    )


def test_an_attribute_of_a_class_with_several_instances_shows_them_all() -> None:
    assert lines_at("self.idle", len("self.i"))[0] == (
        "Linear(2, 2) · module paths blocks.{0..2}.idle · 2 parameters each · not called"
    )


def test_a_class_shows_what_its_children_cost() -> None:
    lines = lines_at("Net(nn.Module)")
    assert [line.split() for line in lines[-3:]] == [
        ["child", "module", "parameters", "share", "FLOPs", "share"],
        ["stem", "Conv2d", "100", "85", "%", "3", "KFLOPs", "50", "%"],
        ["blocks", "ModuleList", "18", "15", "%", "3", "KFLOPs", "50", "%"],
    ]


def test_a_cost_that_is_not_known_is_not_summed() -> None:
    made = trace()
    made.nodes[1] = replace(made.nodes[1], flops=None)
    row = next(line for line in lines_at("Net(nn.Module)", shown=snapshot(TEXT, made.state())) if "blocks" in line)
    assert row.split() == ["blocks", "ModuleList", "18", "15", "%", "unknown"]


def test_what_an_attribute_holds_is_followed_through_edits_and_marked_stale() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "from torch import nn\n", "from torch import nn\n\n\n")
    assert lines_at("nn.Linear(2, 2)", shown=shown)[0].endswith("not called (stale)")
    fresh = edited(snapshot(TEXT, trace().state()), "\n\n\nclass Net", "\n\n\n\nclass Net", Status.FRESH)
    assert lines_at("nn.Conv2d(3, 4, 3)", shown=fresh)[0].endswith("(1, 4, 6, 6)")


def test_nothing_is_reported_of_other_attributes_and_of_what_made_no_module() -> None:
    shown = snapshot(TEXT, trace().state())
    assert at(shown, "super()") is None
    assert at(shown, "range(3)", len("ran")) is not None
    assert at(shown, ".groups", 2) is None


def test_no_hover_has_more_than_twelve_lines() -> None:
    made = trace()
    for index in range(40):
        made.module(f"extra{index}", "Linear(2, 2)", params=index + 1, calls=0)
    lines = lines_at("Net(nn.Module)", shown=snapshot(TEXT, made.state()))
    assert len(lines) == 12
    assert lines[-1] == f"… {42 - (12 - 3 - 2)} more"
