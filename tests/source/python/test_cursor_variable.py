from __future__ import annotations

import pytest

from fxlsp.source.python.cursor_variable import variable_at
from fxlsp.source.text.documents import Document


def at(text: str) -> tuple[str, str | None] | None:
    """The variable at ``|``, and the text that it is given there."""
    offset = text.index("|")
    document = Document("file:///a.py", "/a.py", 1, text.replace("|", ""))
    found = variable_at(document, *document.lines.place(offset))
    if found is None:
        return None
    return found.name, None if found.value is None else document.lines.slice(found.value)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "f(|x)",
            "f(a, k=|x)",
            "|x + 1",
            "-|x",
            "not |x",
            "|x.mean()",
            "a[|x]",
            "[|x]",
            "(|x, y)",
            "f(*|x)",
            "f(**|x)",
        ),
        *("return |x", "if |x: pass", "for a in |x: pass", "|x += 1", "y = |x", "{1: |x}", "f'{|x}'", "a[1:|x]"),
        *("a if |x else b", "|x < 2", "assert |x"),
    ],
)
def test_a_name_is_read(text: str) -> None:
    assert at(text) == ("x", None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("|x = f(y)", "f(y)"),
        ("|x = (f(y))", "f(y)"),
        ("|x: Tensor = f(y)", "f(y)"),
        ("|x = y = f(z)", "f(z)"),
        ("x = |y = f(z)", "f(z)"),
        ("größe = 1; |x = f('𝕏')", "f('𝕏')"),
    ],
)
def test_a_name_is_assigned(text: str, value: str) -> None:
    found = at(text)
    assert found is not None
    assert found[1] == value


@pytest.mark.parametrize(
    "text",
    ["a.|x", "f(|x=1)", "def |x(): pass", "class |x: pass", "import |x", "|x, y = f()", "'|x'", "|f(x)", "|x: int"],
)
def test_this_is_no_variable(text: str) -> None:
    assert at(text) is None
