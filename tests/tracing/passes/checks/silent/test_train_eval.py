"""What ``self.training`` decides is told where it is asked, if the graphs of the two modes differ."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.model.capture.tracer import ModulePathTracer
from fxlsp.tracing.model.loading.loader import Loader
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources
from fxlsp.tracing.passes.checks.silent.train_eval import mode_differences, mode_problems
from fxlsp.wire.messages import ModeDifference
from tests.support.marked import PREAMBLE, span_of, unmarked

Compare = Callable[[str], ModeDifference]


@pytest.fixture
def compared(write: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares the modes of ``Net()`` in a marked text; the differences stand at the marks and nowhere else."""

    def compared(text: str) -> ModeDifference:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        sources = Sources({})
        expressions = Expressions(sources)
        path = write(marked.text, "moded.py")
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
        try:
            module: Any = Loader(sources, expressions, ()).load_file(path, ["Net"])
            places = SourceMap(sources, expressions)
            found = mode_differences(module.Net(), places, lambda: ModulePathTracer(places))
        finally:
            sys.modules.pop("moded", None)
        told = sorted(span_of(problem) for problem in mode_problems(found, "model"))
        if sys.version_info >= (3, 11):
            assert told == marked.spans
        assert [place[0] for place in told] == [span[0] for span in marked.spans]
        assert ModeDifference.from_json(found.to_json()) == found
        return found

    return compared


DIFFERENT = {
    "a branch": """
        class Net(nn.Module):
            def forward(self, x):
                if ⟦self.training⟧:
                    x = x + 1
                return x * 2
        """,
    "a functional dropout over several lines, in blocks": """
        class Block(nn.Module):
            def forward(self, x):
                return F.dropout(
                    x,
                    0.5,
                    training=⟦self.training⟧,
                )

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Block(), nn.Sequential(Block()))
        """,
    "passed to a function": """
        def drop(x, p, training):
            if not training:
                return x
            return x * p

        class Drop(nn.Module):
            def forward(self, x):
                return drop(x, 0.5, ⟦self.training⟧)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = Drop()

            def forward(self, x):
                return self.drop(x) + 1
        """,
    "a helper that makes no node": """
        class Net(nn.Module):
            def with_noise(self):
                return ⟦self.training⟧ and True

            def forward(self, x):
                if self.with_noise():
                    x = x + 1
                return x * 2
        """,
    "an auxiliary head": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 2)
                self.aux = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))

            def forward(self, x):
                y = self.head(x)
                if ⟦self.training⟧:
                    return y, self.aux(x)
                return y
        """,
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_each_place_that_asks_for_the_mode_is_reported(name: str, compared: Compare) -> None:
    assert compared(DIFFERENT[name]).training


SAME = {
    "layers that know the mode": """
        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        """,
    "a question that changes nothing": """
        class Net(nn.Module):
            def forward(self, x):
                if self.training:
                    assert self.bias is None
                return x + 1

            bias = None
        """,
    "a dropout that is always on": """
        class Net(nn.Module):
            def forward(self, x):
                return F.dropout(x, 0.5)
        """,
    "a counter": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.n = 0

            def forward(self, x):
                self.n += 1
                return x * (self.n if self.training else self.n)
        """,
}


@pytest.mark.parametrize("name", SAME)
def test_modes_of_one_graph_are_no_problem(name: str, compared: Compare) -> None:
    difference = compared(SAME[name])
    assert difference.nodes == difference.other_nodes


def test_the_other_modes_nodes_and_modules_are_reported(compared: Compare) -> None:
    difference = compared(DIFFERENT["an auxiliary head"])
    assert (difference.nodes, difference.other_nodes) == (5, 3)
    assert difference.entered == ("head",)
    (problem,) = mode_problems(difference, "model")
    assert problem.severity == "hint"
    assert problem.message.startswith("The graph is that of train mode (5 nodes); eval mode has another (3 nodes).")


def test_a_mode_that_cannot_be_traced_is_reported_as_such(compared: Compare) -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x):
                if not self.training and x.sum() > 0:
                    x = x + 1
                return x * 2
        """
    difference = compared(text)
    assert difference.other_error is not None
    assert "control flow" in difference.other_error
