"""An attribute that does not exist becomes the one of the class that is written almost alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import HEAD, fixed, net, offered

LAYERS = "self.up1 = nn.Linear(4, 4)\nself.up2 = nn.Linear(4, 4)\nself.head = nn.Linear(4, 4)"


@pytest.mark.parametrize(
    ("forward", "after"),
    [
        ("return «self.up22»(x)", "return self.up2(x)"),
        ("return «self.haed»(x)", "return self.head(x)"),
        ("return «self.Head»(x)", "return self.head(x)"),
        ("x = self.up1(x)\nreturn «self.heads»(x) + 1", "x = self.up1(x)\nreturn self.head(x) + 1"),
        ("return x @ «self.haed».weight", "return x @ self.head.weight"),
        ("return «self.encod»(x)", "return self.encode(x)"),
    ],
)
def test_the_similar_attribute_is_read(forward: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    method = "\n    def encode(self, x):\n        return self.head(x)\n"
    text, expected = (net(LAYERS, each) + method for each in (forward, after))
    assert fixed(text, "FX403") == expected
    assert [fix.preferred for fix in offered(text, "FX403")] == [False]
    before = worker.report(f"{write(text.replace('«', '').replace('»', ''))}:Net", "Net()", "torch.ones(2, 4)")
    meant = expected[len(text.partition("«")[0]) :].split("(")[0].removeprefix("self.").split(".")[0]
    assert f"did you mean {meant}?" in next(each.message for each in before.problems if each.code == "FX403")
    report = worker.report(f"{write(expected)}:Net", "Net()", "torch.ones(2, 4)")
    assert [problem.code for problem in report.problems if problem.severity == "error"] == []


@pytest.mark.parametrize(
    ("initialisation", "forward"),
    [
        (LAYERS, "return «self.up4»(x)"),
        (LAYERS, "return «self.decoder»(x)"),
        (LAYERS, "return x + «y»"),
        (LAYERS, "return «x.haed»"),
        (LAYERS, "return «self.head(x, x)»"),
        ("self._head = nn.Linear(4, 4)", "return «self.head»(x)"),
        ("self.block1, self.block2 = nn.Linear(4, 4), nn.Linear(4, 4)", "return «self.block3»(x)"),
    ],
)
def test_without_one_similar_attribute_there_is_no_fix(initialisation: str, forward: str) -> None:
    assert offered(net(initialisation, forward), "FX403") == []


def test_a_class_of_unknown_ancestry_is_left_alone() -> None:
    text = net(LAYERS, "return «self.haed»(x)").replace("class Net(nn.Module)", "class Net(Unknown)")
    assert offered(text, "FX403") == []


def test_an_attribute_of_a_base_class_is_found() -> None:
    text = net("self.up1 = 1", "return «self.haed»(x)").replace("class Net(nn.Module)", "class Net(Base)")
    base = f"{HEAD}class Base(nn.Module):\n    def reset(self):\n        self.head = 1\n\n\n"
    assert offered(text.replace(HEAD, base), "FX403")[0].title == "Use self.head"
