from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.call_hierarchy import HierarchyCalls, HierarchyItem, Reference, incoming, outgoing, prepare
from fxlsp.report.locations import Step
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor
from tests.ide.navigable import TEXT, trace
from tests.ide.navigation.test_definitions import cursor


def traced() -> Snapshot:
    return snapshot(TEXT, trace().state())


def prepared(session: Snapshot, marked: str) -> list[HierarchyItem]:
    return prepare(session, PATH, *cursor(session, marked))


def shown(session: Snapshot, calls: list[HierarchyCalls]) -> list[tuple[str, list[str]]]:
    lines = session.documents[PATH].lines
    return [(each.item.name, [lines.slice(place) for place in each.places]) for each in calls]


@pytest.mark.parametrize(
    ("marked", "names"),
    [
        ("class N|et(", ["Net.forward"]),
        ("class Blo|ck(", ["Block.forward"]),
        ("def for|ward(self, x):\n        x = self.stem", ["Net.forward"]),
        ("x = self.la|yer(x)", ["Block.forward"]),
        ("x = tu|rn(x)", ["Block.forward", "Double.forward"]),
        ("x = self.st|em(x)", ["stem"]),
        ("self.ta|il(x)", ["tail"]),
        ("checkpoint(self.d|yn, x)", ["Double.forward"]),
        ("x = se|lf.layer(x)", []),
        ("super().__init__()\n        self.st|em", []),
    ],
)
def test_classes_forwards_and_module_calls_are_items(marked: str, names: list[str]) -> None:
    assert [item.name for item in prepared(traced(), marked)] == names


def test_a_class_that_never_ran_is_no_item() -> None:
    assert prepared(snapshot(TEXT), "class N|et(") == []


def test_an_item_says_what_ran_and_where_it_is() -> None:
    session = traced()
    (block,) = prepared(session, "class Blo|ck(")
    assert block.detail == "layer.0 (+5 more): (1, 4, 8, 8) → (1, 4, 8, 8)"
    lines = session.documents[PATH].lines
    assert lines.slice(block.target.extent) == "def forward(self, x):\n        return self.conv(x) + x"
    assert lines.slice(block.target.span) == "forward"
    (stem,) = prepared(session, "x = self.st|em(x)")
    assert (stem.detail, stem.kind) == ("Conv2d · stem: (1, 3, 8, 8) → (1, 4, 8, 8)", "module")
    assert lines.slice(stem.target.span) == "self.stem"


def test_outgoing_calls_pass_over_containers_to_what_these_run() -> None:
    session = traced()
    (net,) = prepared(session, "class N|et(")
    assert shown(session, outgoing(session, net.reference)) == [
        ("stem", ["self.stem(x)"]),
        ("Block.forward", ["self.layer(x)", "self.layer[0](x)", "turn(x)"]),
        ("Double.forward", ["turn(x)", "checkpoint(self.dyn, x)"]),
        ("tail", ["self.tail(x)"]),
    ]


def test_a_container_of_leaf_modules_calls_these() -> None:
    session = traced()
    (tail,) = prepared(session, "self.ta|il(x)")
    calls = outgoing(session, tail.reference)
    assert shown(session, calls) == [("tail.0", ["self.tail(x)"]), ("tail.1", ["self.tail(x)"])]
    assert outgoing(session, calls[0].item.reference) == []


def test_the_calls_of_all_instances_are_reported_once() -> None:
    session = traced()
    (block,) = prepared(session, "class Blo|ck(")
    (calls,) = outgoing(session, block.reference)
    assert (calls.item.name, calls.item.detail) == (
        "conv",
        "Conv2d · layer.0.conv (+5 more): (1, 4, 8, 8) → (1, 4, 8, 8)",
    )
    assert len(calls.places) == 1


def test_incoming_calls_are_reported_by_their_callers() -> None:
    session = traced()
    (block,) = prepared(session, "class Blo|ck(")
    assert shown(session, incoming(session, block.reference)) == [
        ("Net.forward", ["self.layer(x)", "self.layer[0](x)", "turn(x)"])
    ]
    (conv,) = outgoing(session, block.reference)
    assert shown(session, incoming(session, conv.item.reference)) == [("Block.forward", ["self.conv(x)"])]
    (net,) = prepared(session, "class N|et(")
    assert incoming(session, net.reference) == []


def test_an_item_is_found_again_after_edits_and_by_its_json() -> None:
    before = traced()
    (block,) = prepared(before, "class Blo|ck(")
    session = edited(before, "from torch import nn\n", "from torch import nn\n\n\n")
    session = edited(session, "self.layer[0](x)", "self.layer[00](x)")
    reference = Reference.from_json(block.reference.to_json())
    assert shown(session, incoming(session, reference)) == [("Net.forward", ["self.layer(x)", "turn(x)"])]
    (caller,) = incoming(session, reference)
    assert session.documents[PATH].lines.slice(caller.item.target.span) == "forward"
    assert caller.item.detail.endswith(" (stale)")


def test_a_caller_whose_call_was_edited_away_is_left_out() -> None:
    before = traced()
    (stem,) = prepared(before, "x = self.st|em(x)")
    assert incoming(edited(before, "self.stem(x)", "self.stem(y)"), stem.reference) == []


def test_two_traces_of_the_same_classes_are_one_hierarchy() -> None:
    session = snapshot(TEXT, trace().state(), trace(name="Other").state())
    (block,) = prepared(session, "class Blo|ck(")
    assert shown(session, incoming(session, block.reference)) == [
        ("Net.forward", ["self.layer(x)", "self.layer[0](x)", "turn(x)"])
    ]


def test_a_call_from_a_function_of_another_file_is_located_where_that_function_is_called() -> None:
    text = (
        "from helpers import run\n\nclass Net(Module):\n    def forward(self, x):\n        return run(self.part, x)\n"
    )
    made = Trace(text).call("", "Net", (0, 1), [], None, forward="forward")
    made.leaf("part", "run(self.part, x)", "Linear(3, 3)", tensor(1, 3), tensor(1, 3))
    made.module("part", "Linear", "self.part")
    outer = Step(place(text, "run(self.part, x)"), "")
    inside = replace(outer.location, file="/project/helpers.py")
    made.nodes[0] = replace(made.nodes[0], location=inside, stack=(outer, Step(inside, "")))
    made.calls[1] = replace(made.calls[1], location=inside)
    session = snapshot(text, made.state())
    (calls,) = outgoing(session, Reference(PATH, "", 4, 9))
    assert shown(session, [calls]) == [("part", ["run(self.part, x)"])]
