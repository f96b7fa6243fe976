"""A series of numbers is explained by what operations do to sizes."""

from __future__ import annotations

import pytest

from fxlsp.tracing.passes.symbolic.fitting import SizeFitter

H = (64, 129, 191, 165)
W = (64, 193, 255, 229)
B = (2, 3, 5, 7)
SYMBOLS = {"B": B, "H": H, "W": W}


@pytest.mark.parametrize(
    ("series", "text"),
    [
        ((7, 7, 7, 7), "7"),
        (H, "H"),
        (tuple(3 * size - 2 for size in H), "3*H-2"),
        (tuple((size + 1) // 2 for size in H), "(H+1)//2"),
        (tuple(size // 2 for size in H), "H//2"),
        (tuple(b * h for b, h in zip(B, H, strict=True)), "B*H"),
        (tuple(h + w - 3 for h, w in zip(H, W, strict=True)), "H+W-3"),
        (tuple((size + 6) // 7 * 7 for size in H), "7*((H+6)//7)"),
    ],
)
def test_a_series_of_one_operation_is_explained(series: tuple[int, ...], text: str) -> None:
    size = SizeFitter(SYMBOLS).fitted(series, [[H, W]])
    assert size is not None
    assert size.text == text


def test_the_window_of_the_layer_counts_where_several_would_agree() -> None:
    even = (8, 16, 32)
    for windows, text in (([], "T//2"), ([(2, 1)], "(T+1)//2")):
        found = SizeFitter({"T": even}).fitted((4, 8, 16), [[even]], windows)
        assert found is not None
        assert found.text == text


def test_what_joins_operands_is_their_sum() -> None:
    fitter = SizeFitter(SYMBOLS)
    parts = [tuple((size + 2**k - 1) // 2**k for size in H) for k in (1, 2, 3)]
    for before, part in zip((H, *parts), parts, strict=False):
        fitter.fitted(part, [[before]], [(2, 1)])
    total = fitter.fitted(tuple(map(sum, zip(*parts, strict=True))), [[part] for part in parts])
    assert total is not None
    assert total.text == "(H+1)//2+(H+3)//4+(H+7)//8"


def test_a_series_without_a_rule_has_no_expression() -> None:
    assert SizeFitter(SYMBOLS).fitted((1, 17, 2, 90), [[H], [W]]) is None
