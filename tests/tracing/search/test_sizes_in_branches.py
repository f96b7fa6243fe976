"""A branch that hangs on a size may mend what fails with the sizes that a search tries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import net

_LAYERS = "self.k, self.a, self.b = 4, nn.Linear(8, 10), nn.Linear(12, 4)"
_PAD = "x = self.a(x)\nif {}:\n    x = F.pad(x, (0, 2))\nreturn self.b(x)"
SOUND = {
    "a batch of one": _PAD.format("x.shape[0] == 1"),
    "a multiple": _PAD.format("x.size(0) % 13 == 0"),
    "a count of numbers": _PAD.format("x.numel() == 490"),
    "a shape": _PAD.format("tuple(x.shape[1:3]) == (14, 14)"),
    "a variable": "n = x.shape[0]\n" + _PAD.format("n == 77"),
    "an unpacked shape": "n, *rest = x.shape\n" + _PAD.format("n == 77"),
    "a branch in a branch": "x = self.a(x)\nif self.k:\n    if len(x) and x.shape[0] == 77:\n"
    "        x = F.pad(x, (0, 2))\nreturn self.b(x)",
    "another branch": _PAD.format("x.shape[0] == 77").replace("return", "else:\n    pass\nreturn"),
    "what a caller passes": "def run(y):\n    return self.b(y)\n"
    + _PAD.format("x.shape[0] == 77").replace("self.b(x)", "run(x)"),
}
WRONG = {
    "no branch": "return self.b(self.a(x))",
    "a branch on an attribute": _PAD.format("self.k == 5"),
    "a rank, of which each is tried": _PAD.format("x.dim() == 3").replace("(0, 2)", "(0, 1)"),
    "a rank by its shape": _PAD.format("len(x.shape) == 3").replace("(0, 2)", "(0, 1)"),
    "a branch that runs": _PAD.format("x.shape[0] > 0").replace("(0, 2)", "(0, 1)"),
    "a branch before the layer": "if x.shape[0] == 77:\n    x = x * 2\nx = self.a(x)\nreturn self.b(x)",
    "a branch of another variable": "y = 0\nx = self.a(x)\nif len(x) == 77:\n    y = 1\nx = self.b(x)\nreturn x + y",
    "a branch behind it": "y = self.b(self.a(x))\nif x.shape[0] == 77:\n    y = y * 2\nreturn y",
}


def _severities(body: str, worker: Any, write: Callable[..., str]) -> set[str]:
    answer = worker.answer(write(net("", _LAYERS, "x", body)) + ":Net")
    assert answer["type"] == "report", answer
    return {each["severity"] for each in answer["report"]["problems"] if each["code"] in ("FX401", "FX403")}


@pytest.mark.parametrize("name", SOUND)
def test_what_another_size_may_mend_is_no_error(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert "error" not in _severities(SOUND[name], worker, write)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns of expressions")
def test_the_failing_expression_and_a_conditional_one_are_known_by_their_columns(
    worker: Any, write: Callable[..., str]
) -> None:
    body = "x = self.a(x)\nx = F.pad(x, (0, {})) if x.shape[0] {} else x\nreturn self.b(x)"
    assert "error" not in _severities(body.format(2, "== 77"), worker, write)
    assert "error" in _severities(body.format(1, "> 0"), worker, write)
    beside = "y = 0\nx = self.a(x)\nif x.shape[0] == 77:\n    y = 1\nreturn self.b(x) + y"
    assert "error" in _severities(beside, worker, write)


@pytest.mark.parametrize("name", WRONG)
def test_what_no_size_mends_is_an_error(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert "error" in _severities(WRONG[name], worker, write)
