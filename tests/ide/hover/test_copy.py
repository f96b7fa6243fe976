"""What a hover says, as text to copy."""

from __future__ import annotations

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.render.tables import TextTable
from fxlsp.report.codes import CONTROL_FLOW
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor
from tests.ide.nets import TEXT, trace


def comment_at(shown: Snapshot, expression: str) -> str | None:
    location = place(shown.documents[PATH].text, expression)
    found = hover(shown, PATH, location.line, location.column + 1)
    assert found is not None
    return found.comment


def test_a_comment_has_the_shapes_and_the_module() -> None:
    assert comment_at(snapshot(TEXT, trace().state()), "self.stem(x)") == "# (1, 3, 8, 8) → (1, 4, 8, 8)  stem"


def test_modules_through_which_the_same_shapes_pass_share_a_line() -> None:
    made = Trace(TEXT)
    for index, size in enumerate((8, 8, 4)):
        made.leaf(f"blocks.{index}.conv", "self.conv(x)", "Conv2d(4, 4)", tensor(1, size), tensor(1, size))
    assert comment_at(snapshot(TEXT, made.state()), "self.conv(x)") == (
        "# (1, 8) → (1, 8)  blocks.{0,1}.conv\n# (1, 4) → (1, 4)  blocks.2.conv"
    )


def test_a_comment_says_that_shapes_are_guessed_or_of_an_earlier_text() -> None:
    guessed = Trace(TEXT, source="search").leaf("stem", "self.stem(x)", "Conv2d(3, 4)", tensor(1, 3), tensor(1, 4))
    shown = snapshot(TEXT, guessed.state())
    assert comment_at(shown, "self.stem(x)") == "# ~(1, 3) → (1, 4)  stem"
    stale = edited(shown, "import torch\n", "import torch\n\nWIDTH = 3\n")
    assert comment_at(stale, "self.stem(x)") == "# ~(1, 3) → (1, 4)  stem (stale)"


def test_what_is_not_known_is_written_as_unknown() -> None:
    made = Trace(TEXT).node("head", "self.head(x)", None, inputs=[tensor(1, 3)])
    assert comment_at(snapshot(TEXT, made.state()), "self.head(x)") == "# (1, 3) → unknown"


def test_of_a_class_the_first_line_is_copied() -> None:
    comment = comment_at(snapshot(TEXT, trace().state()), "Net(nn.Module)")
    assert comment is not None
    assert comment.startswith("# Net · 10 nodes")


def test_advice_alone_is_nothing_to_copy() -> None:
    made = Trace(TEXT).problem(CONTROL_FLOW, "self.stem(x)", "no")
    assert comment_at(snapshot(TEXT, made.state()), "self.stem(x)") is None


def test_a_table_is_copied_whole_and_without_empty_columns() -> None:
    table = TextTable(("path", "call", "out"), tuple((f"layer{index}", "", "a|b") for index in range(30)))
    lines = table.markdown.split("\n")
    assert lines[:3] == ["| path | out |", "| --- | --- |", r"| layer0 | a\|b |"]
    assert len(lines) == 32
