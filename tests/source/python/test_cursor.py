from __future__ import annotations

import pytest

from fxlsp.source.python.cursor import module_name_at
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
