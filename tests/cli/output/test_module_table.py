"""The table of modules: costs as torch's own counter has them, equal neighbours as one row."""

from __future__ import annotations

import json

import pytest

from fxlsp.cli.output.module_table import bytes_text, module_costs, summary_lines
from fxlsp.report.graph import Module, ModuleCall, Node
from fxlsp.report.report import Report
from tests.cli.conftest import Fxlsp
from tests.ide.nets import trace

IMAGE = {"shape": [2, 4], "dtype": "float32"}
HALF = {"shape": [2, 4], "dtype": "float16"}


def report(*calls: tuple[str, str, int | None], modules: list[tuple[str, str, int]]) -> Report:
    """Return a report with a node for each call of a leaf."""
    base = trace().report()
    nodes = tuple(
        Node(f"n{number}", "call_module", path, path, path, kind, None, (), IMAGE, (), 0, flops)
        for number, (path, kind, flops) in enumerate(calls)
    )
    whole = ModuleCall("", "", "Net", False, None, None, (), IMAGE, 0, None, 0, len(nodes))
    leaves = tuple(
        ModuleCall(path, path, kind, True, None, None, (), IMAGE, 0, flops, number, number + 1)
        for number, (path, kind, flops) in enumerate(calls)
    )
    registered = tuple(Module(path, (), kind, params, 1, None) for path, kind, params in modules)
    return Report(
        *(base.target, base.environment, base.recipe, base.mode, base.verdict, True, 0),
        *(nodes, registered, (whole, *leaves), (), {}),
    )


def rows(found: Report, *, unfolded: bool = False) -> list[list[str]]:
    lines = summary_lines(found, unfolded=unfolded)
    return [line.split() for line in lines[3 : lines.index("", 2)]]


BLOCKS = [("", "Net", 30), *((f"block{number}", "Linear", 10) for number in range(3))]


def test_equal_neighbours_are_one_row_with_what_they_cost_together() -> None:
    found = report(*((f"block{number}", "Linear", 5000) for number in range(3)), modules=BLOCKS)
    (folded,) = rows(found)[1:]
    assert folded == ["block{0..2}", "Linear", "(2,", "4)", "30", "15", "K", "96", "B", "3"]
    assert [row[0] for row in rows(found, unfolded=True)] == ["(root)", "block0", "block1", "block2"]


def test_what_is_called_twice_costs_twice_and_has_its_parameters_once() -> None:
    found = report(
        ("shared", "Linear", 10), ("shared", "Linear", 10), modules=[("", "Net", 7), ("shared", "Linear", 7)]
    )
    cost = module_costs(found)["shared"]
    assert (cost.calls, cost.params, cost.flops, cost.output_bytes) == (2, 7, 20, 64)


def test_what_is_unknown_is_unknown_in_everything_around_it() -> None:
    found = report(
        ("a", "Linear", None), ("b", "Linear", 3), modules=[("", "Net", 2), ("a", "Linear", 1), ("b", "L", 1)]
    )
    costs = module_costs(found)
    assert [costs[path].flops for path in ("", "a", "b")] == [None, None, 3]
    assert summary_lines(found)[-1].startswith("2 parameters · ≥ 3 FLOPs")


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (12, "12 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (None, "?")]
)
def test_sizes_have_three_digits_and_a_unit(count: int | None, text: str) -> None:
    assert bytes_text(count) == text


def test_the_command_prints_a_table_or_json(fxlsp: Fxlsp, fake_python: str, model_file: object) -> None:
    ran = fxlsp("summary", "model.py:Net", "--python", fake_python, "--format", "json")
    assert ran.code == 0
    assert json.loads(ran.out)["target"] == "model.py:Net"
    table = fxlsp("summary", "model.py:Net", "--python", fake_python)
    assert table.out.splitlines()[2].split()[:2] == ["module", "class"]
