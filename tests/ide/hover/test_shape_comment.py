"""Shapes written into the code as a comment."""

from __future__ import annotations

import pytest

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hover.shape_comment import shape_comment
from fxlsp.source.text.positions import Span
from tests.ide.builder import PATH, Trace, document, place, snapshot, tensor
from tests.ide.fixing import applied
from tests.ide.nets import TEXT

SHAPES = "# (1, 3) → (1, 4)  stem"


def traced(text: str, expression: str = "self.stem(x)") -> Snapshot:
    made = Trace(text).leaf("stem", expression, "Conv2d(3, 4)", tensor(1, 3), tensor(1, 4))
    return snapshot(text, made.state())


def commented(text: str, expression: str = "self.stem(x)") -> str | None:
    location = place(text, expression)
    cursor = Span(location.line, location.column, location.line, location.column)
    fix = shape_comment(traced(text, expression), PATH, cursor)
    return None if fix is None else applied(document(text), fix)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\tx = self.stem(x)\r\n", f"\t{SHAPES}\r\n\tx = self.stem(x)\r\n"),
        ("x = f(\n    self.stem(x),\n)\n", f"{SHAPES}\nx = f(\n    self.stem(x),\n)\n"),
        ("y = 0; x = self.stem(x)\n", f"{SHAPES}\ny = 0; x = self.stem(x)\n"),
        ("if self.stem(x):\n    pass\n", f"{SHAPES}\nif self.stem(x):\n    pass\n"),
        ("# é\nx = self.stem(x)", f"# é\n{SHAPES}\nx = self.stem(x)"),
    ],
)
def test_the_comment_is_above_the_statement(before: str, after: str) -> None:
    head = "class N:\n  def forward(self, x):\n   if x:\n"
    indented = head + "".join(f"    {line}" for line in before.splitlines(keepends=True))
    # Each of its lines is as far in as the statement.
    expected = head + "".join(f"    {line}" for line in after.splitlines(keepends=True))
    assert commented(indented) == expected


@pytest.mark.parametrize("text", ["'''\n'''; x = self.stem(x)\n", "y = 0; \\\nx = self.stem(x)\n"])
def test_there_is_none_where_a_line_above_would_break_the_code(text: str) -> None:
    assert commented(text) is None


def test_what_is_there_already_is_not_written_again() -> None:
    once = commented("x = self.stem(x)\n")
    assert once == f"{SHAPES}\nx = self.stem(x)\n"
    assert commented(once) is None


def test_several_shapes_take_several_lines() -> None:
    made = Trace(TEXT)
    for index, size in enumerate((8, 4)):
        made.leaf(f"blocks.{index}", "self.conv(x)", "Conv2d(4, 4)", tensor(1, size), tensor(1, size))
    at = place(TEXT, "self.conv(x)")
    fix = shape_comment(snapshot(TEXT, made.state()), PATH, Span(at.line, at.column, at.line, at.column))
    assert fix is not None
    lines = applied(document(TEXT), fix).split("\n")
    assert [line.strip() for line in lines[at.line - 1 : at.line + 1]] == [
        "# (1, 8) → (1, 8)  blocks.0",
        "# (1, 4) → (1, 4)  blocks.1",
    ]


def test_of_a_selection_its_first_character_counts() -> None:
    text = "    x = self.stem(x)\n"
    head = "class N:\n  def forward(self, x):\n"
    fix = shape_comment(traced(head + text), PATH, Span(3, 1, 4, 1))
    assert fix is not None
    assert applied(document(head + text), fix) == f"{head}    {SHAPES}\n{text}"


def test_there_is_none_where_no_shapes_are_known() -> None:
    shown = traced(TEXT)
    assert shape_comment(shown, PATH, Span(1, 1, 1, 1)) is None
    name = place(TEXT, "Net(nn.Module)")
    assert shape_comment(shown, PATH, Span(name.line, name.column, name.line, name.column)) is None
