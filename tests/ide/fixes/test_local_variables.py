"""Local variables that were meant as attributes become attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import fixed, net, offered


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("«conv» = nn.Linear(4, 4)", "self.conv = nn.Linear(4, 4)"),
        ("«conv»: nn.Module = nn.Linear(4, 4)", "self.conv: nn.Module = nn.Linear(4, 4)"),
        (
            "«conv» = nn.Linear(4, 4)\nnn.init.zeros_(conv.weight)",
            "self.conv = nn.Linear(4, 4)\nnn.init.zeros_(self.conv.weight)",
        ),
        ("größe, «conv» = 4, nn.Linear(4, 4)", "größe, self.conv = 4, nn.Linear(4, 4)"),
    ],
)
def test_the_variable_becomes_an_attribute(body: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    text, expected = (net(each, "return self.conv(x)") for each in (body, after))
    assert fixed(text, "FX604") == expected
    report = worker.report(f"{write(expected)}:Net", "Net()", "torch.ones(2, 4)")
    assert report.verdict.traceable
    assert [problem.code for problem in report.problems] == []


@pytest.mark.parametrize(
    "body",
    [
        "«conv» = 3\nself.f = lambda conv: conv",
        "«conv» = 3\nself.sizes = [conv for conv in (1, 2)]",
    ],
)
def test_a_name_with_another_meaning_inside_is_left_alone(body: str) -> None:
    assert offered(net(body, "return self.conv(x)"), "FX604") == []
