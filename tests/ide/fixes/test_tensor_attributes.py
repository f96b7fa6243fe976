"""Assignments to attributes of tensors, which torch.fx does not record, as methods, which it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import assert_it_traces, fixed, net, offered


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("«x.requires_grad» = True", "x.requires_grad_(True)"),
        ("«x.requires_grad»=True", "x.requires_grad_(True)"),
        ("«x.requires_grad» = (\n    True  # größe\n)", "x.requires_grad_((\n    True  # größe\n))"),
        ("«x.requires_grad» = \\\n    True", "x.requires_grad_(\\\n    True)"),
        ("«x.requires_grad» = True if 1 else False", "x.requires_grad_(True if 1 else False)"),
        ("«x.requires_grad» = True; y = 1", "x.requires_grad_(True); y = 1"),
        ("«(x).requires_grad» = True", "(x).requires_grad_(True)"),
    ],
)
def test_requires_grad_is_set_by_its_method(statement: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", f"{statement}\nreturn x * 2")
    expected = net("", f"{after}\nreturn x * 2")
    assert fixed(text, "FX319") == expected
    assert_it_traces(worker, write, text, expected, did_trace=True)


@pytest.mark.parametrize(
    "statement",
    [
        "«x.data» = x.clamp(0, 1)",
        "y = «x.requires_grad» = True",
        "«x.requires_grad», y = True, 1",
        "«x.requires_grad»: bool = True",
    ],
)
def test_nothing_is_offered_where_a_method_would_do_something_else(statement: str) -> None:
    assert offered(net("", f"{statement}\nreturn x"), "FX319") == []
