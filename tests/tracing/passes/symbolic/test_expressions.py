"""Expressions have one normal form, and mean the same before and after."""

from __future__ import annotations

import random

import pytest

from fxlsp.tracing.passes.symbolic.expressions import SymbolicSize, number, symbol

B, H, W = symbol("B"), symbol("H"), symbol("W")


def halved(size: SymbolicSize, times: int) -> SymbolicSize:
    for _ in range(times):
        size = (size + number(-1)) // 2 + number(1)
    return size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (halved(H, 1), "(H+1)//2"),
        (halved(H, 5), "(H+31)//32"),
        ((H // 2) // 3, "H//6"),
        ((H + number(6)) // 7 * number(7) // 7, "(H+6)//7"),
        ((B * number(4) + number(6)) // 8, "(B+1)//2"),
        (B * (H // 2) * (W // 2) * number(3) + number(-2), "3*B*(H//2)*(W//2)-2"),
        (B + H * number(-1), "B-H"),
        (H + H * number(-1), "0"),
        (number(7) // 2, "3"),
        (H * number(2) // 2, "H"),
    ],
)
def test_an_expression_is_written_in_its_shortest_form(size: SymbolicSize, text: str) -> None:
    assert size.text == text


def test_the_text_of_an_expression_evaluates_to_its_value() -> None:
    chance = random.Random(5)
    for _ in range(300):
        size, values = B, {"B": chance.randrange(1, 9), "H": chance.randrange(1, 99), "W": chance.randrange(1, 99)}
        expected = values["B"]
        for _ in range(chance.randrange(1, 6)):
            kind, amount = chance.randrange(4), chance.randrange(1, 9)
            if kind == 0:
                size, expected = size + number(-amount), expected - amount
            elif kind == 1:
                size, expected = size * H, expected * values["H"]
            elif kind == 2:
                size, expected = size // amount, expected // amount
            else:
                size, expected = size + W * number(amount), expected + values["W"] * amount
        assert size.value(values) == expected
        assert eval(size.text, {}, values) == expected


def test_sizes_that_are_equal_by_rule_are_equal_objects() -> None:
    assert halved(H, 3) == (H + number(7)) // 8
    assert B * H == H * B
    assert (B * H).symbols == {"B", "H"}
