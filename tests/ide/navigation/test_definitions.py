from __future__ import annotations

import pytest

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.definitions import definition, implementation, unknown_to_python
from fxlsp.ide.trace_view.in_trace import NavigationTarget
from tests.ide.builder import PATH, edited, snapshot
from tests.ide.navigable import TEXT, trace


def traced() -> Snapshot:
    return snapshot(TEXT, trace().state())


def cursor(session: Snapshot, marked: str) -> tuple[int, int]:
    """The place of the bar in ``marked``, whose text stands once in the document."""
    before, _, after = marked.partition("|")
    lines = session.documents[PATH].lines
    assert lines.text.count(before + after) == 1
    return lines.place(lines.text.index(before + after) + len(before))


def shown(session: Snapshot, target: NavigationTarget) -> str:
    """The line on which a target stands, from its first character."""
    lines = session.documents[target.path].lines
    return lines.line_text(target.span.line)[target.span.column - 1 :]


def defined(session: Snapshot, marked: str) -> list[str] | None:
    found = definition(session, PATH, *cursor(session, marked))
    if found is None:
        return None
    document = session.documents[PATH]
    targets = [*found.forwards, *unknown_to_python(found, document, session.documents.get)]
    return [f"{target.span.line}: {shown(session, target)}" for target in targets]


BLOCK, DOUBLE = "10: forward(self, x):", "15: forward(self, x):"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("x = self.la|yer(x)", [BLOCK]),
        ("x = self.|layer(x)", [BLOCK]),
        ("x = self.layer|(x)", [BLOCK]),
        ("x = self.lay|er[0](x)", [BLOCK, "23: Block() for _ in range(4)])"]),
        ("x = self.layer[|0](x)", [BLOCK, "23: Block() for _ in range(4)])"]),
        ("x = tu|rn(x)", [BLOCK, DOUBLE, "24: nn.ModuleList([Block(), Double()])"]),
        ("checkpoint(self.d|yn, x)", [DOUBLE, '25: self.add_module("dyn", Double())']),
    ],
)
def test_a_module_call_leads_to_what_ran_and_to_what_no_python_server_finds(marked: str, expected: list[str]) -> None:
    assert defined(traced(), marked) == expected


def test_a_leaf_that_an_assignment_registers_is_left_to_the_python_server() -> None:
    assert defined(traced(), "x = self.st|em(x)") == []
    assert defined(traced(), "self.ta|il(x)") == []


@pytest.mark.parametrize(
    "marked",
    [
        "x = se|lf.layer(x)",
        "x = self.layer(|x)",
        "x = self.layer[0](|x)",
        "x |= self.layer(x)",
        "for tu|rn in self.mixed",
        "check|point(self.dyn, x)",
        "checkpoint(se|lf.dyn, x)",
        "return x |* 2",
        "self.la|yer = nn",
        "class Bl|ock",
    ],
)
def test_other_expressions_are_left_to_the_python_server(marked: str) -> None:
    assert defined(traced(), marked) is None


def test_what_names_the_module_is_what_the_editor_underlines() -> None:
    session = traced()
    for marked, name in [
        ("x = self.la|yer(x)", "layer"),
        ("x = self.layer[|0](x)", "layer[0]"),
        ("x = tu|rn(x)", "turn"),
    ]:
        found = definition(session, PATH, *cursor(session, marked))
        assert found is not None
        assert session.documents[PATH].lines.slice(found.name) == name


def test_every_forward_of_all_instances_is_an_implementation() -> None:
    session = traced()
    found = implementation(session, PATH, *cursor(session, "x = tu|rn(x)"))
    assert found is not None
    assert [target.span.line for target in found.forwards] == [10, 15]
    assert found.registrations == ()


def test_the_whole_function_is_the_extent() -> None:
    session = traced()
    found = definition(session, PATH, *cursor(session, "x = self.la|yer(x)"))
    assert found is not None
    (target,) = found.forwards
    assert (
        session.documents[PATH].lines.slice(target.extent).startswith("def forward(self, x):\n        return self.conv")
    )


def test_places_move_with_the_edits_and_those_edited_away_are_left_out() -> None:
    session = edited(traced(), "from torch import nn\n", "from torch import nn\n\n# 𝒳\n")
    assert defined(session, "x = self.layer[|0](x)") == ["12: forward(self, x):", "25: Block() for _ in range(4)])"]
    session = edited(session, "Block() for", "Blocks() for")
    assert defined(session, "x = self.layer[|0](x)") == ["12: forward(self, x):"]
    session = edited(session, "self.layer[0](x)", "self.layer[01](x)")
    assert defined(session, "x = self.layer[|01](x)") is None


def test_a_call_is_found_while_the_file_does_not_parse() -> None:
    session = edited(traced(), "        return self.tail(x)\n", "        z = (\n        return self.tail(x)\n")
    assert defined(session, "x = self.la|yer(x)") == [BLOCK]


def test_the_same_forward_in_two_traces_is_one_place() -> None:
    session = snapshot(TEXT, trace().state(), trace(name="Other").state())
    assert defined(session, "x = self.la|yer(x)") == [BLOCK]
