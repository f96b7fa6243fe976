from __future__ import annotations

import pytest

from fxlsp.ide.render.shapes import Style, flow_text, output_text, symbol_facts
from fxlsp.report.graph import Output
from tests.ide.builder import tensor


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (tensor(1, 64, 56, 56), "(1, 64, 56, 56)"),
        (tensor(7), "(7,)"),
        (tensor(), "()"),
        (tensor(1, 5, dtype="int64"), "(1, 5) int64"),
        ({"list": [tensor(1), tensor(2)]}, "[(1,), (2,)]"),
        ({"list": [tensor(1, 2)] * 12}, "12 × (1, 2)"),
        ({"list": [tensor(size) for size in range(9)]}, "[(0,), (1,), (2,), … 6 more]"),
        ({"dict": {"logits": tensor(1, 10), "loss": None}}, "{logits: (1, 10), loss: unknown}"),
        ({"value": "mean"}, "'mean'"),
        ({"type": "Size"}, "Size"),
        (None, "unknown"),
    ],
)
def test_an_output_reads_as_its_shape(output: Output | None, text: str) -> None:
    assert output_text(output, "float32") == text


def test_a_flow_shows_tensors_and_leaves_out_other_arguments() -> None:
    assert flow_text([tensor(1, 3), {"value": 2}], tensor(1, 6), "float32") == "(1, 3) → (1, 6)"


def test_a_flow_without_tensors_going_in_is_the_output() -> None:
    assert flow_text([{"value": 2}], tensor(2), "float32") == "(2,)"


SELECTED: Output = {**tensor(37, 64, 16), "symbolic": ["u0", 64, "H//4"]}


@pytest.mark.parametrize(
    ("style", "text"),
    [("numbers", "(u0, 64, 16)"), ("symbolic", "(u0, 64, H//4)"), ("both", "(u0, 64, H//4) = (u0, 64, 16)")],
)
def test_a_size_that_depends_on_data_is_never_a_number(style: Style, text: str) -> None:
    assert output_text(SELECTED, "float32", style) == text


def test_a_shape_in_which_only_data_decides_is_written_once() -> None:
    assert output_text({**tensor(37), "symbolic": ["2*u0"]}, "float32", "both") == "(2*u0,)"


def test_symbols_have_their_values_or_depend_on_data() -> None:
    assert symbol_facts({"B": 2, "u0": None}) == "for B = 2; u0 depends on data"
    assert symbol_facts({"u0": None, "u1": None}) == "u0, u1 depend on data"
    assert symbol_facts({}) == ""
