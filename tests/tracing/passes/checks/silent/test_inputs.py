"""Inputs of the root that the graph takes otherwise than ``forward`` are told where that shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

OPTIONAL = {
    "is not None": """
        class Net(nn.Module):
            def forward(self, x, mask=None):
                if ⟦mask is not None⟧:
                    x = x * mask
                return x + 1
        """,
    "in an expression over several lines": """
        class Net(nn.Module):
            def forward(self, x, *, scale: float | None = None):
                return x * (
                    1 if ⟦scale
                    is None⟧ else scale
                )
        """,
    "in a child": """
        class Block(nn.Module):
            def forward(self, x, m):
                if ⟦m is None⟧:
                    return x
                return x * m

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(), Block()])

            def forward(self, x, mask=None):
                for block in self.blocks:
                    x = block(x, m=mask)
                return x
        """,
    "in a helper and a method": """
        def masked(x, m):
            return x if ⟦m is None⟧ else x * m

        class Net(nn.Module):
            def forward(self, x, mask=None):
                return self.apply_mask(x, mask)

            def apply_mask(self, x, m):
                x = x + 1
                return masked(x, m)
        """,
}


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_comparison_of_an_optional_input_with_none_is_reported(name: str, found: Found) -> None:
    found(OPTIONAL[name], "FX302", inputs=None)


GIVEN = {
    "an optional input of a child that the root does not pass": """
        class Block(nn.Module):
            def forward(self, x, mask=None):
                if mask is not None:
                    x = x * mask
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block(x)
        """,
    "a required input": """
        class Net(nn.Module):
            def forward(self, x, mask):
                if mask is not None:
                    x = x * mask
                return x + 1
        """,
    "one that must be given": """
        class Net(nn.Module):
            def forward(self, x, mask=None):
                if mask is None:
                    raise ValueError("mask")
                return x * mask
        """,
    "a value of its own": """
        class Net(nn.Module):
            def forward(self, x, mask=None):
                y = mask
                mask = None
                if mask is None:
                    x = x + 1
                return x
        """,
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_comparison_that_comes_out_alike_is_no_problem(name: str, found: Found) -> None:
    found(GIVEN[name], inputs=None)


@pytest.mark.parametrize("signature", ["x, *⟦rest⟧", "x, **⟦rest⟧", "x, *, a=1,\n                    **⟦rest⟧"])
def test_variadic_inputs_that_are_used_are_a_hint(signature: str, found: Found) -> None:
    text = """
        class Net(nn.Module):
            def forward(self, SIGNATURE):
                return torch.relu(x), rest
        """
    (problem,) = found(text.replace("SIGNATURE", signature), "FX318", inputs=None)
    assert problem.severity == "hint"


def test_variadic_inputs_that_are_not_used_are_no_problem(found: Found) -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x, **unused):
                return torch.relu(x)
        """
    found(text, inputs=None)
