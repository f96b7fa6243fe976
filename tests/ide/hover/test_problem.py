"""The hover on a problem says what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.hover.text import HoverText
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import CALLED_AGAIN, CONTROL_FLOW, OPERATION_FAILS, SWALLOWED, UNREGISTERED_MODULE
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor
from tests.ide.nets import TEXT

BRANCH = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]

    def forward(self, x):
        if x.sum() > 0:
            return x
        return self.blocks[0](x)
"""
SAYS_CHOOSE = "FX101: cannot trace. Choose with an operation that the graph can hold, such as torch.where"


def at(shown: Snapshot, expression: str, offset: int = 1) -> HoverText | None:
    location = place(shown.documents[PATH].text, expression)
    return hover(shown, PATH, location.line, location.column + offset)


def lines_at(shown: Snapshot, expression: str, offset: int = 1) -> list[str]:
    found = at(shown, expression, offset)
    return [] if found is None else found.text.plain.split("\n")


def branch() -> Trace:
    return Trace(BRANCH).problem(CONTROL_FLOW, "x.sum() > 0", "cannot trace", severity="warning")


def test_where_no_node_arises_a_problem_has_a_hover_of_its_own() -> None:
    found = at(snapshot(BRANCH, branch().state()), "x.sum() > 0", len("x.sum() >"))
    assert found is not None
    assert found.text.plain == SAYS_CHOOSE
    assert found.span.column == 12


@pytest.mark.parametrize("severity", ["error", "hint"])
def test_the_problem_and_the_advice_are_shown_on_all_of_the_span(severity: Severity) -> None:
    made = Trace(BRANCH).problem(CONTROL_FLOW, "x.sum() > 0", "cannot trace.\nMore of it", severity=severity)
    for offset in range(len("x.sum() > 0")):
        assert SAYS_CHOOSE in lines_at(snapshot(BRANCH, made.state()), "x.sum() > 0", offset)


def test_the_source_in_a_headline_is_set_as_code_and_a_long_one_is_shortened() -> None:
    made = Trace(BRANCH).problem(CONTROL_FLOW, "x.sum() > 0", f"layer `down` {'x' * 200}")
    found = at(snapshot(BRANCH, made.state()), "x.sum() > 0")
    assert found is not None
    assert "): layer `down` xxx" in found.text.markdown
    assert "x… Choose" in found.text.plain
    made = Trace(BRANCH).problem(CONTROL_FLOW, "x.sum() > 0", f"Whole sentence. {'x' * 200}")
    found = at(snapshot(BRANCH, made.state()), "x.sum() > 0")
    assert found is not None
    assert "Whole sentence. Choose" in found.text.plain
    made = Trace(BRANCH).problem(CONTROL_FLOW, "x.sum() > 0", "a ` and `b`")
    found = at(snapshot(BRANCH, made.state()), "x.sum() > 0")
    assert found is not None
    assert r"a \` and \`b\`" in found.text.markdown


def test_in_markdown_the_code_leads_to_its_page_and_source_is_set_as_code() -> None:
    found = at(snapshot(BRANCH, branch().state()), "x.sum() > 0")
    assert found is not None
    assert found.text.markdown.startswith("[FX101](https://")
    assert found.text.markdown.endswith(
        "/FX101.md): cannot trace. Choose with an operation that the graph can hold, such as `torch.where`"
    )


def test_what_to_do_is_below_the_first_line_of_what_is_known() -> None:
    made = Trace(TEXT).leaf("stem", "self.stem(x)", "Conv2d(3, 4)", tensor(1, 3), tensor(1, 4))
    made.problem(OPERATION_FAILS, "self.stem(x)", "it does not fit")
    lines = lines_at(snapshot(TEXT, made.state()), "self.stem(x)")
    assert lines[0].startswith("Conv2d(3, 4) · (1, 3)")
    assert lines[1] == "FX401: it does not fit. Make the operation fit its operands, whose shapes the message gives"
    assert lines[2].startswith("node stem")


def test_the_fix_that_is_offered_there_is_named() -> None:
    made = Trace(BRANCH).problem(UNREGISTERED_MODULE, "self.blocks[0](x)", "not installed", severity="warning")
    (line,) = lines_at(snapshot(BRANCH, made.state()), "self.blocks[0](x)")
    assert line.endswith("as attributes of their own · fix: Register the modules of blocks with nn.ModuleList")


def test_to_ignore_a_problem_is_no_fix_of_it() -> None:
    assert "fix:" not in "".join(lines_at(snapshot(BRANCH, branch().state()), "x.sum() > 0"))


def test_problems_of_inner_expressions_come_first_and_each_advice_once() -> None:
    made = branch().problem(SWALLOWED, "if x.sum() > 0:\n            return x", "caught")
    made.problem(OPERATION_FAILS, "x.sum()", "no").problem(OPERATION_FAILS, "x.sum() > 0", "no")
    lines = lines_at(snapshot(BRANCH, made.state()), "x.sum() > 0")
    assert [line[:5] for line in lines] == ["FX401", "FX101", "FX314"]


def test_behind_the_end_of_a_problem_the_next_one_counts() -> None:
    text = BRANCH.replace("x.sum() > 0", "x.sum()> 0")
    made = Trace(text).problem(OPERATION_FAILS, "x.sum()", "no").problem(CONTROL_FLOW, "> 0", "no")
    assert lines_at(snapshot(text, made.state()), "x.sum()", len("x.sum()"))[0].startswith("FX101")
    assert lines_at(snapshot(BRANCH, branch().state()), "x.sum() > 0", len("x.sum() > 0")) == [SAYS_CHOOSE]


def test_what_settings_or_a_comment_silence_has_no_advice() -> None:
    shown = snapshot(BRANCH, branch().state())
    assert lines_at(replace(shown, policies={"": Policy(levels={"FX1": "off"})}), "x.sum() > 0") == []
    assert lines_at(edited(shown, "> 0:", "> 0:  # fxlsp: ignore[FX101]"), "x.sum() > 0") == []


def test_the_advice_follows_edits_above() -> None:
    shown = edited(snapshot(BRANCH, branch().state()), "import torch\n", "import torch\n\nWIDTH = 3\n")
    assert lines_at(shown, "x.sum() > 0") == [SAYS_CHOOSE]


def test_a_hover_with_problems_keeps_within_twelve_lines() -> None:
    made = Trace(TEXT)
    for index in range(20):
        shape = tensor(1, index + 1)
        made.leaf(f"blocks.{index}.conv", "self.conv(x)", f"Conv2d({index}, 4)", shape, shape)
    for code in (CALLED_AGAIN, OPERATION_FAILS, CONTROL_FLOW):
        made.problem(code, "self.conv(x)", "no")
    lines = lines_at(snapshot(TEXT, made.state()), "self.conv(x)")
    assert len(lines) == 12
    assert [line[:5] for line in lines[1:4]] == ["FX101", "FX206", "FX401"]
    assert "more" in lines[-2]
