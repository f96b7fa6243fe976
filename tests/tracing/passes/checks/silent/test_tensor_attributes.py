"""What is set of a traced tensor stays on the proxy: it is told at the target of the assignment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

LOST = {
    "the data of a parameter": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(4))

            def forward(self, x):
                ⟦self.scale.data⟧ = self.scale.data.clamp(0, 1)
                return x * self.scale
        """,
    "that of a layer's, with a value over several lines": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                ⟦self.lin.weight.data⟧ = torch.clamp(
                    self.lin.weight, 0
                )
                return self.lin(x)
        """,
    "that of a value, in a helper and a child": """
        def moved(x):
            y = x * 2
            ⟦y.data⟧ = x + 1
            return y

        class Block(nn.Module):
            def forward(self, x):
                return moved(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(), Block()])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        """,
    "whether it requires gradients": """
        class Net(nn.Module):
            def forward(self, x):
                ⟦x.requires_grad⟧ = True
                return torch.autograd.grad((x * x).sum(), x)[0]
        """,
    "its gradient": """
        class Net(nn.Module):
            def forward(self, x):
                y = x + 1
                ⟦y.grad⟧ = None
                return y
        """,
    "its real part, by setattr": """
        class Net(nn.Module):
            def forward(self, x):
                y = torch.complex(x, x)
                ⟦setattr(y, "real", x + 1)⟧
                return y.abs()
        """,
}


@pytest.mark.parametrize("name", LOST)
def test_an_assignment_to_an_attribute_of_a_traced_tensor_is_reported(name: str, found: Found) -> None:
    found(LOST[name], "FX319")


def test_the_problem_says_what_stays_as_it_was(found: Found) -> None:
    (problem,) = found(LOST["the data of a parameter"], "FX319")
    assert problem.message == (
        "This sets data of torch.fx's proxy alone: the graph does not do it, and goes on with the tensor as it was."
    )
    assert (problem.severity, problem.module_path) == ("warning", "")


KEPT = {
    "an attribute that tensors do not have is read back while tracing": """
        class Net(nn.Module):
            def forward(self, x):
                x.scale = 2
                return x * x.scale
        """,
    "a tensor that is no proxy": """
        class Net(nn.Module):
            def forward(self, x):
                y = torch.ones(4)
                y.requires_grad = True
                return x + 1
        """,
    "what is done in place": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(4))

            def forward(self, x):
                self.scale.data.clamp_(0, 1)
                return x * self.scale
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_the_graph_does_as_well_is_no_problem(name: str, found: Found) -> None:
    found(KEPT[name])


AFTER = {
    "data": ("y = x * 2", "y.data = torch.cat([x, x])", "y + 1", [4, 4]),
    "whether gradients are wanted": (
        "y = x",
        "x.requires_grad = True",
        "torch.autograd.grad((x * y).sum(), x)[0]",
        [2, 4],
    ),
}


@pytest.mark.parametrize("name", AFTER)
def test_past_a_failure_of_torch_fx_the_tensor_has_what_was_assigned(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    before, assignment, result, shape = AFTER[name]
    text = f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                {before}
                {assignment}
                if x.sum() > 0:
                    pass
                return {result}
        """
    report = worker.report(write(text) + ":Net", "Net()", "torch.ones(2, 4)")
    assert {problem.code for problem in report.problems} == {"FX101", "FX319"}
    assert report.nodes[-1].output == {"shape": shape, "dtype": "float32"}


def test_one_that_torch_refuses_is_reported_as_an_operation_that_fails(worker: Any, write: Callable[..., str]) -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                x.data = 1
                if x.sum() > 0:
                    pass
                return x
        """
    report = worker.report(write(text) + ":Net", "Net()", "torch.ones(2, 4)")
    told = {problem.code: problem for problem in report.problems}
    assert told.keys() == {"FX101", "FX319", "FX401"}
    assert told["FX401"].message == "Variable data has to be a tensor, but got int (TypeError)"
    assert told["FX401"].location == told["FX319"].location
