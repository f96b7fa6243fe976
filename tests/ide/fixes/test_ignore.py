"""Each problem of a trace can be ignored by a comment, where its line has room for one."""

from __future__ import annotations

import ast

import pytest

from fxlsp.ide.fixes.registry import fixes_and_ignore
from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.positions import Span
from tests.ide.builder import document
from tests.ide.fixing import applied, marked


def ignored(text: str, code: str = "FX101") -> str | None:
    made, span = marked(text)
    found = [fix for fix in fixes_and_ignore(made, code, span) if fix.title == f"Ignore {code} here"]
    assert len(found) < 2
    if not found:
        return None
    after = applied(made, found[0])
    # The problem moves down where the comment has a line of its own.
    row = span.line + len(after.splitlines()) - len(made.text.splitlines())
    assert is_ignored(document(after), code, Span(row, span.column, row, span.end_column))
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if «x»:\n    y\n", "if x:  # fxlsp: ignore[FX101]\n    y\n"),
        ("if «x»:   \r\n\ty\r\n", "if x:  # fxlsp: ignore[FX101]\r\n\ty\r\n"),
        ("y = «x» and z", "y = x and z  # fxlsp: ignore[FX101]"),
        ("y = «f(\n    x,\n)»\n", "y = f(  # fxlsp: ignore[FX101]\n    x,\n)\n"),
        ("y = «x»  # größer\n", "y = x  # größer  # fxlsp: ignore[FX101]\n"),
        ("y = «x»  # fxlsp: ignore[FX102]\n", "y = x  # fxlsp: ignore[FX102, FX101]\n"),
        (
            "y = «x»  # noqa # fxlsp:ignore[ FX102,FX201 ]  # é\n",
            "y = x  # noqa # fxlsp:ignore[FX102, FX201, FX101]  # é\n",
        ),
        ("y = «x»  # fxlsp: ignore[]\n", "y = x  # fxlsp: ignore[FX101]\n"),
        ("s = '''\n''' + «x»\n", "s = '''\n''' + x  # fxlsp: ignore[FX101]\n"),
        ("s = 'é\\\\' + «x»\n", "s = 'é\\\\' + x  # fxlsp: ignore[FX101]\n"),
        ("y = «x», (\n", "y = x, (  # fxlsp: ignore[FX101]\n"),
    ],
)
def test_the_comment_is_located_at_the_end_of_the_problem_s_first_line(before: str, after: str) -> None:
    assert ignored(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z\n\ty = «x» \\\n    + 1\n", "z\n\t# fxlsp: ignore[FX101]\n\ty = x \\\n    + 1\n"),
        ("y = «x» + '''a\nb'''\n", "# fxlsp: ignore[FX101]\ny = x + '''a\nb'''\n"),
        ("y = f'''{«x»}\r\nb'''\r\n", "# fxlsp: ignore[FX101]\r\ny = f'''{x}\r\nb'''\r\n"),
        (
            "@d\nclass «N»(M):  # fxlsp: N()\n    pass\n",
            "@d\n# fxlsp: ignore[FX101]\nclass N(M):  # fxlsp: N()\n    pass\n",
        ),
        ("# fxlsp: ignore[FX201]\ny = «x»\n", "# fxlsp: ignore[FX201, FX101]\ny = x\n"),
        ("z  # fxlsp: ignore[FX201]\ny = «x»\n", "z  # fxlsp: ignore[FX201]\ny = x  # fxlsp: ignore[FX101]\n"),
    ],
)
def test_the_comment_is_above_a_line_without_room_or_joins_one_there(before: str, after: str) -> None:
    assert ignored(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "y = 1 + \\\n    «x» + \\\n    1\n",
        "y = f'''a\n{«x»}\nb'''\n",
        "# fxlsp: ignore\ny = «x» \\\n    + 1\n",
        "y = «x»  # fxlsp: ignore\n",
        "y = «x»  # fxlsp: ignore[FX101]\n",
    ],
)
def test_a_place_without_room_stays_as_it_is(text: str) -> None:
    assert ignored(text) is None


def test_every_problem_of_a_trace_can_be_ignored_and_no_failure() -> None:
    assert ignored("y = «x»\n", "FX207") is not None
    assert ignored("y = «x»\n", "FX999") is None
    assert ignored("y = «x»\n", "FX901") is None


def test_the_program_stays_the_same() -> None:
    text = "if «x»:\n    y = {\n        1: 2,\n    }\n"
    after = ignored(text)
    assert after is not None
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(marked(text)[0].text))
