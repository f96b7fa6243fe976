"""Compound statements on one line, and loops that only data could end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cases import Followed
from tests.support.marked import PREAMBLE

COLUMNS = pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python has no columns")

ONE_LINE = {
    "if": ("if ⟦x.sum() > 0⟧: x = x + 1", "FX101"),
    "if of two statements": ("if ⟦x.sum() > 0⟧: x = x + 1; x = x * 2", "FX101"),
    "if not": ("if not ⟦x.any()⟧: x = x + 1", "FX101"),
    "if that raises": ("if ⟦x.isnan().any()⟧: raise ValueError('nan')", "FX101"),
    "if that returns": ("if ⟦self.l(x).mean() > 100⟧: return x", "FX101"),
    "if of a conjunction": ("if self.training and ⟦x.sum() > 0⟧: x = x * 2", "FX101"),
    "while": ("while ⟦x.abs().mean() > 1e9⟧: x = x / 2", "FX101"),
    "while in parentheses": ("while (⟦x.abs().mean() > 1e9⟧): x = x / 2", "FX101"),
    "while of a conjunction": ("while self.training and ⟦x.abs().mean() > 1e9⟧: x = x / 2", "FX101"),
    "for": ("for i in ⟦x⟧: x = x + i", "FX102"),
    "for over a length": ("for i in range(⟦len(x)⟧): x = x + i", "FX103"),
    "isinstance": ("if ⟦isinstance(x.size(0), int)⟧: x = x.relu()", "FX301"),
    "isinstance of the input": ("if ⟦isinstance(x, torch.Tensor)⟧: x = x.relu()", "FX301"),
    "with": ("with torch.no_grad(): x = x + ⟦len(x)⟧", "FX103"),
    "else": ("if self.l is None: x = x - 1\n        else: x = x + ⟦int(x.size(0))⟧", "FX104"),
    "elif": ("if self.l is None: x = x - 1\n        elif ⟦x.sum() > 0⟧: x = x + 1", "FX101"),
    "try": ("try: x = x + ⟦len(x)⟧\n        finally: x = x * 2", "FX103"),
    "two statements": ("y = x * 2; x = y + ⟦len(x)⟧; x = x - 1", "FX103"),
    "assert behind another": ("y = x * 2; assert ⟦x.sum() > 0⟧; x = y", "FX101"),
}


@COLUMNS
@pytest.mark.parametrize("name", ONE_LINE)
def test_the_expression_is_underlined_and_the_rest_followed(name: str, followed: Followed) -> None:
    body, code = ONE_LINE[name]
    report = followed(
        f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        {body}
        return self.l(x)
""",
        code,
        also=frozenset({"FX310"}),
        is_traceable=code == "FX301",
    )
    assert report.complete
    assert report.nodes[-2].name.startswith("l")


CONDITIONS = {
    "and behind a comparison": "if n < 3 and ⟦x.all()⟧: x = x + 1",
    "and not behind a comparison": "if n < 3 and not ⟦x.all()⟧: x = x + 1",
    "or behind a comparison": "if n > 3 or ⟦x.any()⟧: x = x + 1",
    "while behind a comparison": "while n < 3 and ⟦x.any()⟧: n += 1",
    "a conditional expression": "x = x + 1 if n < 3 and ⟦x.any()⟧ else x",
    "assert behind a comparison": "assert n < 3 and ⟦x.any()⟧",
    "two behind a comparison": "if n < 3 and flag and ⟦x.any()⟧: x = x + 1",
    "between comparisons": "if n < 3 and ⟦x.any()⟧ and n == 0: x = x + 1",
    "behind two comparisons": "if n < 3 and n == 0 and not ⟦x.any()⟧: x = x + 1",
    "behind a chain": "if 0 <= n < 3 and ⟦x.any()⟧: x = x + 1",
    "a comparison of the input": "if n < 3 and ⟦x.sum() > 0⟧: x = x + 1",
    "a comparison of the input first": "if ⟦x.sum() > 0⟧ and flag: x = x + 1",
    "a comparison in parentheses": "if flag and (n > 3 or ⟦x.any()⟧): x = x + 1",
    "a variable behind a comparison": "some = x.any()\n        if n < 3 and ⟦some⟧: x = x + 1",
    "a comprehension": "x = [x for _ in range(2) if flag and not ⟦x.any()⟧ or True][0]",
    "a comprehension behind a comparison": "x = [x for _ in range(2) if n < 3 and ⟦x.any()⟧ or True][0]",
    "the second condition of a comprehension": "x = [x for _ in range(2) if flag if ⟦x.any()⟧ or True][0]",
    "a generator": "x = next(x for _ in range(2) if n > 3 or ⟦x.any()⟧ or True)",
}


@COLUMNS
def test_of_a_condition_the_part_is_underlined_that_is_a_traced_value(followed: Followed) -> None:
    names = {name: "".join(word.title() for word in name.split()) for name in CONDITIONS}
    parts = "".join(
        f"""
class {names[name]}(nn.Module):
    def forward(self, x):
        n, flag = 0, True
        {body}
        return x
"""
        for name, body in CONDITIONS.items()
    )
    calls = ", ".join(f"{each}()" for each in names.values())
    root = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential({calls})

    def forward(self, x):
        return self.parts(x)
"""
    report = followed(parts + root, *["FX101"] * len(CONDITIONS))
    assert report.complete


ENDLESS = {
    "a function tests": "while self.wants(x):\n            x = x / 2",
    "a function tests the negation": "while not self.has(x):\n            x = x / 2",
    "a variable": "on = True\n        while on:\n            x = x * 2\n            on = bool(x.sum() < 9)",
    "a break": "while True:\n            x = x / 2\n            if x.sum() > 1: continue\n            break",
    "a break in a function": "while True:\n            x = x / 2\n            if not self.wants(x): break",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_loop_that_data_ends_ends(name: str, worker: Any, write: Callable[..., str]) -> None:
    text = f"""{PREAMBLE}
class Net(nn.Module):
    def wants(self, x):
        return bool(x.sum() > 1e9)

    def has(self, x):
        return True if x.sum() < 1e9 else False

    def forward(self, x):
        {ENDLESS[name]}
        return x.relu()
"""
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.ones(3, 4)")
    assert report.complete
    assert report.nodes[-2].name.startswith("relu")
    assert {problem.code for problem in report.problems} == {"FX101"}, report.problems
