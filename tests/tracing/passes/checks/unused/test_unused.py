"""Modules that nothing calls and parameters that nothing uses are told; what anything may use is not."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from tests.support.marked import PREAMBLE, span_of, unmarked

Found = Callable[..., list[Problem]]


@pytest.fixture
def unused(worker: Any, write: Callable[..., str]) -> Found:
    """Traces a marked model; what is unused is of one code and stands at the marks and nowhere else."""

    def unused(text: str, code: str | None = None) -> list[Problem]:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        report = worker.report(write(marked.text) + ":Net", "Net()", "torch.ones(2, 4)")
        told = [problem for problem in report.problems if problem.code.startswith("FX5")]
        assert {problem.code for problem in told} == ({code} if code else set()), told
        told.sort(key=span_of)
        columns = sys.version_info >= (3, 11)
        assert [span_of(problem) if columns else span_of(problem)[0] for problem in told] == [
            span if columns else span[0] for span in marked.spans
        ]
        return told

    return unused


DEAD_MODULES = {
    "an attribute": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.used = nn.Linear(4, 4)
                self.left = ⟦nn.Linear(4, 4)⟧

            def forward(self, x):
                return self.used(x)
        """,
    "a block, and not each of its children": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

            def forward(self, x):
                return self.norm(self.lin(x))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.left = Block(), ⟦Block()⟧

            def forward(self, x):
                return self.used(x)
        """,
    "a list, in a block used twice": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module("left", ⟦nn.ModuleList([
                    nn.Linear(4, 4),
                ])⟧)

            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = Block(), Block()

            def forward(self, x):
                return self.a(self.b(x))
        """,
    "a local variable made by a function": """
        def layer(n):
            made = ⟦nn.Conv1d(n, n, 1)⟧
            return made

        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                left = layer(4)
                self.left = left

        class Net(Base):
            def forward(self, x):
                return x + 1
        """,
}

DEAD_MODULES["a name that an unrelated class reads of itself"] = """
    class Other(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Linear(4, 4)

        def forward(self, x):
            return self.conv(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.other = Other()
            self.conv = ⟦nn.Linear(4, 4)⟧

        def forward(self, x):
            return self.other(x)
    """

DEAD_PARAMETERS = {
    "an attribute": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.left⟧ = nn.Parameter(torch.ones(4))
                self.used = nn.Parameter(torch.ones(4))

            def forward(self, x):
                return x * self.used
        """,
    "register_parameter, in a block": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.register_parameter(
                    "left", nn.Parameter(torch.ones(4))
                )⟧

            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block(x)
        """,
    "a list of parameters": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.left = ⟦nn.ParameterList([nn.Parameter(torch.ones(4))])⟧

            def forward(self, x):
                return x + 1
        """,
}


@pytest.mark.parametrize("name", DEAD_MODULES)
def test_a_module_that_nothing_calls_or_reads_is_reported_where_it_is_made(name: str, unused: Found) -> None:
    (problem,) = unused(DEAD_MODULES[name], "FX501")
    assert problem.severity == "info"


@pytest.mark.parametrize("name", DEAD_PARAMETERS)
def test_a_parameter_that_nothing_reads_is_reported_where_it_is_registered(name: str, unused: Found) -> None:
    (problem,) = unused(DEAD_PARAMETERS[name], "FX502")
    assert problem.severity == "info"


def test_the_message_says_what_becomes_of_distributed_training(unused: Found) -> None:
    (problem,) = unused(DEAD_MODULES["an attribute"], "FX501")
    assert problem.message == (
        "left (Linear) is never called. Its 20 parameters get no gradient, and DistributedDataParallel fails on such "
        "parameters unless it is given find_unused_parameters=True."
    )
    (problem,) = unused(DEAD_PARAMETERS["an attribute"], "FX502")
    assert problem.message.startswith("The parameter left is never used. Its 4 elements get no gradient")


def test_nothing_is_reported_of_gradients_where_nothing_is_trained(unused: Found) -> None:
    frozen = DEAD_PARAMETERS["an attribute"].replace(
        "nn.Parameter(torch.ones(4))", "nn.Parameter(torch.ones(4), False)"
    )
    (problem,) = unused(frozen, "FX502")
    assert problem.message == "The parameter left is never used."


_MAYBE_USED = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.maybe = nn.Linear(4, 4)
            self.scale = nn.Parameter(torch.ones(4))

        def forward(self, x):
            return x + 1
    """
_METHODS = {
    "another method": "def other(self, x): return self.maybe(x) * self.scale",
    "a property": "head = property(lambda self: (self.maybe, self.scale))",
    "an initialisation": "def reset(self): nn.init.zeros_(self.maybe.weight), nn.init.zeros_(self.scale)",
    "getattr": "def other(self, name): return getattr(self, name)",
    "iteration over children": "def other(self): return list(self.children())",
    "iteration over parameters": "def other(self): return [p for _, p in self.named_parameters()]",
}


@pytest.mark.parametrize("name", _METHODS)
def test_what_a_method_may_read_is_not_unused(name: str, unused: Found) -> None:
    unused(textwrap.dedent(_MAYBE_USED) + f"\n    {_METHODS[name]}\n")


SILENT = {
    "a forward that does not return yet": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.later = nn.Linear(4, 4), nn.Linear(4, 4)
                self.scale = nn.Parameter(torch.ones(4))

            def forward(self, x):
                x = torch.relu(self.used(x))
        """,
    "read through an instance": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.loss_head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1

        def train(model, x):
            return model.loss_head(model(x))
        """,
    "read by a subclass": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1

        class Longer(Net):
            def forward(self, x):
                return self.head(super().forward(x))
        """,
    "read by a function that becomes a method": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1

        def other(self, x):
            return self.head(x)
        """,
    "read by a mixin": """
        class Mixin:
            def other(self, x):
                return self.head(x)

        class Net(Mixin, nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1
        """,
    "read by the owner": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block.head(self.block(x))
        """,
    "an owner that iterates": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                for child in self.block.children():
                    x = child(x)
                return self.block(x)
        """,
    "a head chosen by configuration": """
        class Net(nn.Module):
            def __init__(self, deep=False):
                super().__init__()
                self.deep = deep
                self.head, self.deep_head = nn.Linear(4, 4), nn.Linear(4, 4)

            def forward(self, x):
                return self.deep_head(x) if self.deep else self.head(x)
        """,
    "used in the other mode": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.aux = nn.Linear(4, 4)

            def forward(self, x):
                return x + 1 if self.training else self.aux(x)
        """,
    "weights alone": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                return F.linear(x, self.lin.weight)
        """,
    "what torch's own modules hold": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.TransformerEncoderLayer(4, 2, batch_first=True)
                self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

            def forward(self, x):
                x = self.layer(x[None])
                return self.attention(x, x, x)[0]
        """,
    "a loss, and what has no state": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.criterion, self.relu = nn.CrossEntropyLoss(), nn.ReLU()

            def forward(self, x):
                return x + 1
        """,
    "a second name of what is called": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                lin = nn.Linear(4, 4)
                self.layers = nn.ModuleList([lin])
                self.last = lin

            def forward(self, x):
                return self.layers[0](x)
        """,
    "a weight that a hook works out": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4, 4))
                nn.utils.weight_norm(self)

            def forward(self, x):
                return x @ self.weight
        """,
    "a buffer": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("steps", torch.zeros(1))

            def forward(self, x):
                return x + 1
        """,
}


@pytest.mark.parametrize("name", SILENT)
def test_what_may_be_used_stays_silent(name: str, unused: Found) -> None:
    unused(SILENT[name])


FAILING = {
    "an operation with an assumed result": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.dead = nn.Linear(5, 4), nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x)
        """,
    "an operation of unknown result": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.dead = nn.Parameter(torch.ones(4))

            def forward(self, x):
                return x.view(3, 3) + 1
        """,
    "behind a branch that torch.fx refuses": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.dead = nn.Linear(5, 4), nn.Linear(4, 4)

            def forward(self, x):
                x = self.lin(x)
                if x.shape[0] > 1:
                    return x
                return self.dead(x)
        """,
    "the model's own error": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.dead = nn.Linear(4, 4), nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x.shap)
        """,
}


@pytest.mark.parametrize("name", FAILING)
def test_nothing_is_unused_where_forward_fails(name: str, unused: Found) -> None:
    unused(FAILING[name])
