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
        ({"list": [tensor(1), tensor(2)]}, "(1,), (2,)"),
        ({"list": [tensor(1, 2)] * 12}, "12 × (1, 2)"),
        ({"list": [tensor(2, 4)] * 2}, "2 × (2, 4)"),
        ({"list": [tensor(2, 4)]}, "1 × (2, 4)"),
        ({"list": [tensor(2, 7), tensor(2, 7, dtype="int64")]}, "(2, 7), (2, 7) int64"),
        ({"list": [tensor(2, 7, 5), {"list": [tensor(1, 2, 5)] * 2}]}, "(2, 7, 5), 2 × (1, 2, 5)"),
        (
            {"list": [tensor(2, 7, 5), {"list": [tensor(1, 2, 5), tensor(1, 2, 8)]}]},
            "(2, 7, 5), [(1, 2, 5), (1, 2, 8)]",
        ),
        ({"list": [{"list": [tensor(1), tensor(2)]}] * 3}, "3 × [(1,), (2,)]"),
        ({"list": [tensor(2, 4), {"value": None}]}, "(2, 4), None"),
        ({"list": [tensor(2, 4), None]}, "(2, 4), unknown"),
        ({"list": [{"value": 2}, {"value": 7}]}, "[2, 7]"),
        ({"list": [{"value": 2}, {"value": 2}]}, "[2, 2]"),
        ({"list": []}, "[]"),
        ({"list": [tensor(size) for size in range(9)]}, "(0,), (1,), (2,), … 6 more"),
        ({"dict": {"logits": tensor(1, 10), "loss": None}}, "{logits: (1, 10), loss: unknown}"),
        ({"dict": {"all": {"list": [tensor(1), tensor(2)]}}}, "{all: [(1,), (2,)]}"),
        ({"value": "mean"}, "'mean'"),
        ({"type": "Size"}, "Size"),
        (None, "unknown"),
    ],
)
def test_an_output_reads_as_its_shape(output: Output | None, text: str) -> None:
    assert output_text(output, "float32") == text


def test_a_flow_shows_tensors_and_leaves_out_other_arguments() -> None:
    assert flow_text([tensor(1, 3), {"value": 2}], tensor(1, 6), "float32") == "(1, 3) → (1, 6)"


def test_a_list_among_the_arguments_of_a_call_has_brackets() -> None:
    unequal, equal = {"list": [tensor(1, 3), tensor(1, 4)]}, {"list": [tensor(1, 3)] * 2}
    assert flow_text([unequal, tensor(2)], tensor(1, 7), "float32") == "[(1, 3), (1, 4)], (2,) → (1, 7)"
    assert flow_text([equal], tensor(1, 6), "float32") == "2 × (1, 3) → (1, 6)"


def test_of_wide_containers_only_the_first_items_are_written_out() -> None:
    wide: Output = {"list": [tensor(1, 256, size, size) for size in (56, 28, 14, 7)]}
    assert output_text(wide, "float32", width=40) == "(1, 256, 56, 56), (1, 256, 28, 28), … 2 more"
    assert output_text(wide, "float32", width=10) == "(1, 256, 56, 56), … 3 more"
    assert output_text({"dict": {"a": tensor(2), "b": wide}}, "float32", width=10) == "{a: (2,), … 1 more}"


def test_of_several_tensors_all_expressions_come_before_all_numbers() -> None:
    first, second = {**tensor(2, 4), "symbolic": ["B", 4]}, {**tensor(2, 8), "symbolic": ["B", 8]}
    assert output_text({"list": [first, second]}, "float32", "both") == "(B, 4), (B, 8) = (2, 4), (2, 8)"
    assert output_text({"list": [first, first]}, "float32", "both") == "2 × (B, 4) = 2 × (2, 4)"
    assert output_text({"list": [tensor(2), tensor(3)]}, "float32", "both") == "(2,), (3,)"


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
