from __future__ import annotations

from fxlsp.answers.symbols import symbols
from tests.answers.builder import PATH, snapshot
from tests.answers.nets import TEXT


def test_the_outline_is_model_classes_and_their_forward() -> None:
    assert [(symbol.name, [child.name for child in symbol.children]) for symbol in symbols(snapshot(TEXT), PATH)] == [
        ("Block", ["forward"]),
        ("Net", ["forward"]),
    ]


def test_a_class_inside_another_is_its_child() -> None:
    text = """\
from torch import nn

class Outer(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            return x

    def forward(self, x):
        return x

class Other(nn.Module):
    pass
"""
    outer, other = symbols(snapshot(text), PATH)
    assert [child.name for child in outer.children] == ["forward", "Inner"]
    assert other.children == []
