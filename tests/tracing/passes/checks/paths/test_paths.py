"""Modules and parameters with several names, repeated calls and misleading node names are told where they matter."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from tests.support.marked import PREAMBLE, span_of, unmarked

Found = Callable[..., list[Problem]]

needs_columns = pytest.mark.skipif(sys.version_info < (3, 11), reason="the text of a call is found by its columns")


@pytest.fixture
def paths(worker: Any, write: Callable[..., str]) -> Found:
    """Traces a marked model; its problems about paths are of one code and stand at the marks and nowhere else."""

    def paths(text: str, code: str | None = None) -> list[Problem]:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        report = worker.report(write(marked.text) + ":Net", "Net()", "torch.ones(2, 4)")
        told = [problem for problem in report.problems if problem.code in ("FX204", "FX205", "FX206", "FX207")]
        assert {problem.code for problem in told} == ({code} if code else set()), told
        told.sort(key=span_of)
        columns = sys.version_info >= (3, 11)
        assert [span_of(problem) if columns else span_of(problem)[0] for problem in told] == [
            span if columns else span[0] for span in marked.spans
        ]
        return told

    return paths


AMBIGUOUS = {
    "a second attribute": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(4, 4)
                self.b = self.a

            def forward(self, x):
                return ⟦self.b(self.a(x))⟧
        """,
    "a local variable, over several lines": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = self.b = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(4))

            def forward(self, x):
                layer = self.b
                return ⟦layer(
                    x,
                )⟧ + 1
        """,
    "a loop over a list of one": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.ml = nn.ModuleList([nn.Linear(4, 4)] * 3)

            def forward(self, x):
                for layer in self.ml:
                    x = ⟦layer(x)⟧
                return x
        """,
    "a sequence that holds one twice": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                lin = nn.Linear(4, 4)
                self.seq = nn.Sequential(lin, nn.ReLU(), lin)

            def forward(self, x):
                return ⟦self.seq(x)⟧
        """,
    "two owners": """
        class Coder(nn.Module):
            def __init__(self, emb):
                super().__init__()
                self.emb = emb

        class Encoder(Coder):
            def forward(self, x):
                return self.emb(x)

        class Decoder(Coder):
            def forward(self, x):
                return self.look(x)

            def look(self, x):
                return ⟦self.emb(x)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                emb = nn.Linear(4, 4)
                self.enc, self.dec = Encoder(emb), Decoder(emb)

            def forward(self, x):
                return self.dec(self.enc(x))
        """,
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_call_through_another_name_than_torch_fx_gives_is_ambiguous(name: str, paths: Found) -> None:
    (problem,) = paths(AMBIGUOUS[name], "FX204")
    assert problem.severity == "info"


@needs_columns
def test_the_text_of_a_call_shows_which_element_or_child_it_means(paths: Found) -> None:
    problems = paths(
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Block()
                self.b = self.a
                self.ml = nn.ModuleList([nn.Linear(4, 4)] * 3)
                self.by_name = nn.ModuleDict({"x": self.ml[0]})

            def forward(self, x):
                x = self.a(x)
                x = ⟦self.b.lin(x)⟧
                x = self.ml[0](x)
                x = ⟦self.ml[-1](x)⟧
                return ⟦self.by_name["x"](x)⟧
        """,
        "FX204",
    )
    messages = [problem.message for problem in problems]
    assert "call of b.lin under the path a.lin" in messages[0]
    assert "call of ml.2 under the path ml.0" in messages[1]
    assert "call of by_name.x under the path ml.0" in messages[2]


def test_every_registration_is_related(paths: Found) -> None:
    (problem,) = paths(AMBIGUOUS["a second attribute"], "FX204")
    assert [(place.message, place.location.line) for place in problem.related] == [
        ("registered as a", 12),
        ("registered as b", 13),
    ]
    assert "records this call of b under the path a" in problem.message
    (problem,) = paths(AMBIGUOUS["a loop over a list of one"], "FX204")
    assert [(place.message, place.location.line) for place in problem.related] == [
        ("registered as ml.0, ml.1 and ml.2", 12)
    ]


REPEATED = {
    "twice": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                y = self.lin(x)
                y = ⟦self.lin(y)⟧
                return y + ⟦self.lin(x)⟧
        """,
    "a cell in a loop": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.Linear(4, 4)

            def forward(self, x):
                for _ in range(5):
                    x = ⟦self.cell(
                        x
                    )⟧
                return x
        """,
    "a block, and not what is in it": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(4, affine=False)

            def forward(self, x):
                return self.norm(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.again(self.block(x))

            def again(self, x):
                return ⟦self.block(x)⟧
        """,
    "handed to another module": """
        class Head(nn.Module):
            def forward(self, x, lin):
                return ⟦lin(x)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.head = nn.Linear(4, 4), Head()

            def forward(self, x):
                return self.head(self.lin(x), self.lin)
        """,
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_repeated_call_of_a_module_with_state_is_reported_at_the_later_calls(name: str, paths: Found) -> None:
    problems = paths(REPEATED[name], "FX206")
    assert {problem.severity for problem in problems} == {"info"}


def test_a_repeated_call_names_the_first_one(paths: Found) -> None:
    first, second = paths(REPEATED["twice"], "FX206")
    assert [(place.message, place.location.line) for place in first.related] == [("first called here", 15)]
    assert first.related == second.related
    (loop,) = paths(REPEATED["a cell in a loop"], "FX206")
    assert loop.related == ()
    assert loop.message.startswith("cell is called several times here")


MISLEADING = {
    "a layer called again": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.act, self.act_1 = nn.ReLU(), nn.Tanh()

            def forward(self, x):
                x = ⟦self.act(self.act(x))⟧
                return self.act_1(x)
        """,
    "a child of a list": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.l = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
                self.act_2 = nn.ReLU()

            def forward(self, x):
                for layer in (self.l[0], self.l[0]):
                    x = ⟦layer(x)⟧
                return self.l[2](x)
        """,
    "a dot and an underscore": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Sequential(nn.ReLU())
                self.a_0 = nn.Tanh()

            def forward(self, x):
                return self.a_0(⟦self.a(
                    x
                )⟧)
        """,
}


@pytest.mark.parametrize("name", MISLEADING)
def test_a_node_name_that_reads_as_another_module_is_reported(name: str, paths: Found) -> None:
    (problem,) = paths(MISLEADING[name], "FX207")
    assert problem.severity == "info"


def test_a_misleading_name_is_reported_with_both_modules(paths: Found) -> None:
    (problem,) = paths(MISLEADING["a child of a list"], "FX207")
    assert problem.message == "The node of this call of l.0 is named l_1, which reads as the module l.1."


TIED = {
    "a head and an embedding": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.emb = nn.Linear(4, 6)
                self.head = nn.Linear(4, 6)
                ⟦self.head.weight⟧ = self.emb.weight

            def forward(self, x):
                return self.emb(x) + self.head(x)
        """,
    "the other way round, after a conversion": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.emb = nn.Linear(4, 6)
                self.head = nn.Linear(4, 6)
                self.tie(self.emb, self.head)
                self.float()

            def tie(self, one, other):
                ⟦one.weight⟧ = other.weight

            def forward(self, x):
                return self.emb(x) + self.head(x)
        """,
    "two names in one module": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(4))
                ⟦self.register_parameter(
                    "v", self.w)⟧

            def forward(self, x):
                return x * self.w + self.v
        """,
}


@pytest.mark.parametrize("name", TIED)
def test_tied_parameters_are_a_hint_where_they_were_tied(name: str, paths: Found) -> None:
    (problem,) = paths(TIED[name], "FX205")
    assert problem.severity == "hint"


def test_a_tied_parameter_is_reported_with_both_names(paths: Found) -> None:
    (problem,) = paths(TIED["a head and an embedding"], "FX205")
    assert problem.message.startswith("emb.weight and head.weight are one parameter")
    assert [(place.message, place.location.line) for place in problem.related] == [
        ("emb.weight is registered here", 12)
    ]


def test_a_pass_that_goes_on_after_failures_counts_calls_once(paths: Found) -> None:
    (problem,) = paths(
        """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                x = self.lin(x)
                if x.sum() > 0:
                    x = x + 1
                return ⟦self.lin(x)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block(x)
        """,
        "FX206",
    )
    assert problem.message.startswith("block.lin is called again here")


SILENT = {
    "stateless modules under two names and called often": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.relu = self.act = nn.ReLU()
                self.ml = nn.ModuleList([nn.Dropout()] * 3)
                self.seq = nn.Sequential(self.relu, nn.Identity(), self.relu)

            def forward(self, x):
                for layer in self.ml:
                    x = layer(x)
                return self.seq(self.act(self.relu(self.relu(x))))
        """,
    "a second name that is not used": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
                self.last = self.layers[-1]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
    "a loop over different modules": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block() for _ in range(3)])
                self.seq = nn.Sequential(*[Block() for _ in range(3)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.seq(x)
        """,
    "an instance in each of two owners, called by its first name": """
        class Block(nn.Module):
            def __init__(self, lin):
                super().__init__()
                self.lin = lin

            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)
                self.block = Block(self.lin)

            def forward(self, x):
                return self.block(self.lin(x))
        """,
    "a module that is not registered has no path": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = [nn.Linear(4, 4)]

            def forward(self, x):
                return self.hidden[0](self.hidden[0](x))
        """,
    "a node name with a number that is no module's": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = nn.ReLU()
                self.act_3 = nn.Tanh()

            def forward(self, x):
                return self.act_3(self.act(self.act(x)))
        """,
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_harmless_stays_silent(name: str, paths: Found) -> None:
    paths(SILENT[name])
