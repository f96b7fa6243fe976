from __future__ import annotations

import pytest

from fxlsp.ide.render.numbers import flops_sum_text, flops_text, params_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 parameters"),
        (1, "1 parameter"),
        (999, "999 parameters"),
        (9408, "9.41 K parameters"),
        (11_689_512, "11.7 M parameters"),
        (118_000_000, "118 M parameters"),
        (999_999, "1 M parameters"),
        (70_000_000_000, "70 G parameters"),
    ],
)
def test_parameters_are_counted_in_three_digits(count: int, text: str) -> None:
    assert params_text(count) == text


def test_flops_have_a_unit() -> None:
    assert flops_text(3_628_146_688) == "3.63 GFLOPs"
    assert flops_text(None) == "FLOPs unknown"


def test_a_sum_with_an_unknown_part_is_a_lower_bound() -> None:
    assert flops_sum_text([1_000_000, None]) == "≥ 1 MFLOPs"
    assert flops_sum_text([None, None]) == "FLOPs unknown"
