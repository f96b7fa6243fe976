from __future__ import annotations

import pytest

from fxlsp.ide.trace_view.call_tree import ModuleCallTree
from tests.ide.builder import Trace

TEXT = "a(x) b(x) c(x) d(x) forward"


@pytest.mark.parametrize(
    ("calls", "parents"),
    [
        ([("a", 0, 3), ("a.b", 1, 2), ("c", 3, 4)], {"a": "", "a.b": "a", "c": ""}),
        # A call that made no node, at the end of another and behind it.
        ([("a", 0, 3), ("a.b", 3, 3), ("c", 3, 3)], {"a": "", "a.b": "a", "c": ""}),
        ([("a", 0, 0), ("a.b", 0, 0), ("c", 0, 3)], {"a": "", "a.b": "a", "c": ""}),
        ([("a", 0, 3), ("b", 1, 1), ("d", 1, 3)], {"a": "", "b": "a", "d": "a"}),
    ],
)
def test_a_call_is_inside_the_one_that_had_not_returned(
    calls: list[tuple[str, int, int]], parents: dict[str, str]
) -> None:
    made = Trace(TEXT).call("", "Net", (0, 4), [], None)
    for path, first, end in calls:
        made.call(path, "Part", (first, end), [], None, at="a(x)")
    tree = ModuleCallTree(made.report())
    found = {
        each.call.module_path: each.parent.call.module_path for each in tree.nested_calls if each.parent is not None
    }
    assert found == parents
    assert [each.call.module_path for each in tree.nested_calls if each.parent is None] == [""]


def test_the_caller_is_the_nearest_forward_that_can_be_looked_at() -> None:
    made = Trace(TEXT).call("", "Net", (0, 4), [], None, forward="forward")
    made.call("a", "Sequential", (0, 4), [], None, at="a(x)").call("a.0", "Block", (0, 2), [], None, at="a(x)")
    root, _, block = ModuleCallTree(made.report()).nested_calls
    assert block.caller is root
    assert root.caller is None
