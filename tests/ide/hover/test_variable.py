from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.hover.text import HoverText
from tests.ide.builder import PATH, Trace, edited, place, snapshot
from tests.ide.nets import TEXT, trace


def noted() -> Trace:
    """The model of ``nets``, with what its variables held."""
    made = trace()
    held = {
        "stem": {"x": "x"},
        "blocks_0_conv": {"x": "stem"},
        "relu_0": {"x": "stem"},
        "add_0": {"x": "stem", "y": "relu_0"},
        "blocks_1_conv": {"x": "add_0"},
        "relu_1": {"x": "add_0"},
        "add_1": {"x": "add_0", "y": "relu_1"},
        "head": {"x": "add_1"},
    }
    made.nodes = [replace(node, variables=held.get(node.name, {})) for node in made.nodes]
    return made


def at(shown: Snapshot, expression: str, offset: int) -> HoverText | None:
    location = place(shown.documents[PATH].text, expression)
    return hover(shown, PATH, location.line, location.column + offset)


def lines_at(shown: Snapshot, expression: str, offset: int) -> list[str]:
    found = at(shown, expression, offset)
    assert found is not None
    return found.text.plain.split("\n")


def test_a_variable_that_is_read_shows_what_it_held_there() -> None:
    shown = snapshot(TEXT, noted().state())
    lines = lines_at(shown, "self.stem(x)", len("self.stem("))
    assert lines[0] == "x · (1, 3, 8, 8) float32 · as it came in"
    assert lines[1].startswith("Net: Net()(torch.randn(1, 3))")
    assert lines_at(shown, "self.head(x)", len("self.head("))[0] == "x · (1, 4, 4, 4) float32 · made by torch.relu"


def test_a_variable_of_several_instances_shows_what_each_held() -> None:
    lines = lines_at(snapshot(TEXT, noted().state()), "y + x", 0)
    assert lines[0] == "y · (1, 4, 8, 8) float32 · made by torch.relu, and 1 more"
    assert [line.split()[0] for line in lines[2:4]] == ["blocks.0", "blocks.1"]


def test_a_variable_follows_the_chosen_instance() -> None:
    shown = snapshot(TEXT, noted().state())
    chosen = replace(shown, instances={SymbolId(PATH, "Block"): ForwardInstance(PATH, "Net", "blocks.1", 1)})
    assert lines_at(chosen, "y + x", 0)[0].startswith("y · (1, 4, 4, 4) float32")


def test_a_variable_that_is_assigned_shows_what_it_is_given() -> None:
    lines = lines_at(snapshot(TEXT, noted().state()), "x = self.stem(x)", 0)
    assert lines[0].startswith("Conv2d(3, 4, kernel_size=(3, 3)) · (1, 3, 8, 8) → (1, 4, 8, 8)")


def test_the_name_of_a_call_or_attribute_is_no_variable() -> None:
    shown = snapshot(TEXT, noted().state())
    for offset in (0, len("self."), len("self.stem")):
        assert lines_at(shown, "self.stem(x)", offset)[0].startswith("Conv2d(3, 4")


def test_a_variable_is_followed_through_edits() -> None:
    shown = edited(snapshot(TEXT, noted().state()), "import torch\n", "import torch\n\n\n")
    assert lines_at(shown, "self.stem(x)", len("self.stem("))[0].endswith("as it came in (stale)")


def test_what_held_no_tensor_is_the_business_of_other_servers() -> None:
    made = noted()
    made.nodes = [replace(node, output={"value": 3}) if node.name == "x" else node for node in made.nodes]
    found = at(snapshot(TEXT, made.state()), "self.stem(x)", len("self.stem("))
    assert found is not None
    assert found.text.plain.startswith("Conv2d")
