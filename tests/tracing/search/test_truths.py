"""What is only a condition is guessed to be off, and what returns several values returns several."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.priors.truths import only_tested
from tests.support.marked import PREAMBLE

FLAGS = {
    "an attribute that is stored": ("self.a = config.flag", "if self.a:\n    x = 1"),
    "an argument": ("if flag:\n    self.x = 1", "x"),
    "a key": ("self.a = config['flag']", "y = 1 if self.a else 2"),
    "a negation": ("self.a = flag", "if not self.a:\n    x = 1"),
    "a conjunction": ("self.a = flag", "if self.a and x is not None:\n    x = 1"),
    "a variable": ("a = config.flag\nself.b = a", "while self.b:\n    x = 1"),
    "the same name": ("self.flag = cfg.flag", "if self.flag:\n    print('x')"),
    "bool": ("self.a = bool(flag)", "x"),
}

USED = {
    "a size": ("self.a = nn.Linear(flag, 4)", "if flag:\n    x = 1"),
    "a default": ("self.a = flag or 4", "x"),
    "a count": ("self.a = flag", "if self.a:\n    x = range(self.a)"),
    "a call": ("self.a = flag", "if self.a:\n    x = self.a(x)"),
    "a keyword": ("self.a = f(flag=flag)", "if flag:\n    x = 1"),
    "nothing": ("self.a = flag", "x"),
    "a comparison": ("self.a = flag", "if self.a > 3:\n    x = 1"),
}


@pytest.mark.parametrize("name", FLAGS)
def test_a_condition_is_a_flag(name: str) -> None:
    assert "flag" in only_tested(map(ast.parse, FLAGS[name]))


@pytest.mark.parametrize("name", USED)
def test_what_has_another_use_is_none(name: str) -> None:
    assert "flag" not in only_tested(map(ast.parse, USED[name]))


GUESSED = {
    "a scripted function": (
        "self.flag = config.jit_loss\n        self.alpha = config.alpha",
        "f = plain\n        if self.flag:\n            f = scripted\n        return f(x) * self.alpha",
    ),
    "a branch": (
        "self.smooth = config.smooth\n        self.cond = config.self_condition",
        "if self.cond:\n            x = x * len(x)\n        return x * self.smooth",
    ),
    "a branch by a key": (
        "self.cond = config['conditioned']",
        "if self.cond:\n            x = x[: int(x.sum())]\n        return x * 2",
    ),
    "a branch by an argument of the configuration": (
        "self.config = config",
        "if self.config.checkpointed:\n            x = x * float(x.mean())\n        return x",
    ),
    "a starred unpacking": ("self.fn = config", "x, *rest = self.fn(x)\n        return (x * 2, *rest)"),
    "a starred unpacking in front": ("self.fn = config", "*rest, x = self.fn(x)\n        return x * 2"),
}


@pytest.mark.parametrize("name", GUESSED)
def test_no_problem_comes_of_a_guessed_branch(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, body = GUESSED[name]
    text = f"""{PREAMBLE}
def plain(x):
    return x.abs()

scripted = torch.jit.script(plain)

class Net(nn.Module):
    def __init__(self, {"fn" if "unpacking" in name else "config"}):
        super().__init__()
        {init if "unpacking" not in name else "self.fn = fn"}
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        x = self.lin(x)
        {body}
"""
    report = worker.report(f"{write(textwrap.dedent(text))}:Net")
    assert not [problem for problem in report.problems if problem.severity in ("warning", "error")], report.problems
