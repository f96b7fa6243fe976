"""Comments that silence problems."""

from __future__ import annotations

import pytest

from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


def ignored(text: str, span: Span, code: str = "FX101") -> bool:
    return is_ignored(Document("untitled:a", "/untitled/a.py", 1, text), code, span)


ONE = Span(2, 5, 2, 9)
THREE = Span(2, 5, 4, 6)


@pytest.mark.parametrize(
    "comment",
    [
        "# fxlsp: ignore",
        "# fxlsp: ignore[FX101]",
        "#fxlsp:ignore [ FX205 , FX101 ]",
        "# fxlsp: ignore[FX1]  as torch.fx is never used here",
        "# type: ignore  # fxlsp: ignore[FX101]",
    ],
)
def test_a_comment_on_the_line_of_a_problem_silences_its_codes(comment: str) -> None:
    assert ignored(f"def f(x):\n    if x: pass  {comment}\n", ONE)


@pytest.mark.parametrize(
    "comment",
    ["# ignore", "# fxlsp: ignore[]", "# fxlsp: ignore[FX102]", "# fxlsp: ignored()", '"# fxlsp: ignore"'],
)
def test_other_comments_silence_nothing(comment: str) -> None:
    assert not ignored(f"def f(x):\n    if x: pass;  {comment}\n", ONE)


@pytest.mark.parametrize(("line", "silences"), [(1, False), (2, True), (3, False), (4, True), (5, False)])
def test_the_first_and_the_last_line_of_a_problem_count(line: int, silences: bool) -> None:
    lines = ["a = 1", "    f(", "    x", "    )", "b = 2"]
    lines[line - 1] += "  # fxlsp: ignore"
    assert ignored("\n".join(lines), THREE) is silences


@pytest.mark.parametrize(("above", "silences"), [("    # fxlsp: ignore[FX1]", True), ("y = 1  # fxlsp: ignore", False)])
def test_a_comment_alone_on_the_line_above_counts(above: str, silences: bool) -> None:
    assert ignored(f"{above}\n    if x: pass\n", ONE) is silences


def test_a_comment_counts_in_text_that_does_not_parse() -> None:
    assert ignored("def f(:\n    if x  # fxlsp: ignore[FX101]\n", ONE)
