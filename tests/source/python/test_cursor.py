from __future__ import annotations

import pytest

from fxlsp.source.python.cursor import module_name_at, variable_at
from fxlsp.source.text.documents import Document

HEADER = """\
from torch.utils.checkpoint import checkpoint
import torch.utils.checkpoint as cp


def helper(function, x):
    return function(x)


"""


def named(marked: str, names: frozenset[str] = frozenset({"layer"})) -> str | None:
    """What the bar in ``marked`` names of the call between the two guillemets, or of all of it."""
    before, _, after = marked.partition("|")
    start = len(HEADER) + (before.index("«") if "«" in before else 0)
    text = (before + after).replace("«", "")
    end = len(HEADER) + (text.index("»") if "»" in text else len(text))
    document = Document("file:///n.py", "/n.py", 1, HEADER + text.replace("»", ""))
    place = document.lines.place(len(HEADER) + len(before.replace("«", "")))
    name = module_name_at(document, document.lines.span(start, end), *place, names)
    return None if name is None else document.lines.slice(name)


@pytest.mark.parametrize(
    ("marked", "name"),
    [
        ("|layer(x)", "layer"),
        ("self.lay|er(x)", "layer"),
        ("self.layer|(x)", "layer"),
        ("self.net.lay|er(x)", "layer"),
        ("self.la|yer[0](x)", "layer[0]"),
        ("self.layer[|0](x)", "layer[0]"),
        ("self.layer[i][|0](x)", "layer[i][0]"),
        ("self.layer[-|1](x)", "layer[-1]"),
        ("self.layers|['a'](x)", "layers['a']"),
        ("self.layers['|a'](x)", "layers['a']"),
        ("getattr(self, '|a')(x)", "getattr(self, 'a')"),
        ("self.la|yer.forward(x)", "layer.forward"),
        ("self.la|yer(\n    x,\n)", "layer"),
        ("'𝒳', «self.la|yer(x)», '𝒳'", "layer"),
        ("(self.a or self.layer[|0])(x)", "(self.a or self.layer[0])"),
        ("checkpoint(self.la|yer, x)", "layer"),
        ("cp.checkpoint(self.la|yer, x)", "layer"),
        ("helper(self.la|yer, x)", "layer"),
        ("map(self.la|yer, x)", "layer"),
    ],
)
def test_a_cursor_names_the_module(marked: str, name: str) -> None:
    assert named(marked) == name


@pytest.mark.parametrize(
    "marked",
    [
        "se|lf.layer(x)",
        "self.n|et.layer(x)",
        "self.layer(|x)",
        "self.layer(x|)",
        "self.layer[|i](x)",
        "self.layer[i|](x)",
        "get|attr(self, 'a')(x)",
        "getattr(se|lf, 'a')(x)",
        "self.make(|i)(x)",
        "check|point(self.layer, x)",
        "checkpoint(self.la|yer_of, x)",
        "checkpoint(la|yer, x)",
        "self.layer(self.lay|er)",
        "self.w @ |x",
        "self.layer(|",
    ],
)
def test_other_parts_are_left_to_others(marked: str) -> None:
    assert named(marked) is None


def variable(text: str) -> tuple[str, str | None] | None:
    """Return the variable at ``|``, and the source of the value assigned there."""
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
    assert variable(text) == ("x", None)


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
    found = variable(text)
    assert found is not None
    assert found[1] == value


@pytest.mark.parametrize(
    "text",
    ["a.|x", "f(|x=1)", "def |x(): pass", "class |x: pass", "import |x", "|x, y = f()", "'|x'", "|f(x)", "|x: int"],
)
def test_this_is_no_variable(text: str) -> None:
    assert variable(text) is None
