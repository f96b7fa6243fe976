"""Traced values that decide which way a program goes: torch.fx cannot follow, the recovering pass does."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces

DECIDE = {
    "if": Case("if ⟦x.sum() > 0⟧:\n    x = x + 1\nreturn x"),
    "elif": Case("if x is None:\n    return x\nelif ⟦x.sum() > 0⟧:\n    x = x + 1\nelse:\n    x = x * 2\nreturn x"),
    "while": Case("while ⟦x.sum() > 0⟧:\n    x = x - 1\nreturn x"),
    "assert": Case("assert ⟦x.sum() > 0⟧, 'positive'\nreturn x"),
    "assert of sizes": Case("assert ⟦x.shape[-1] == 4⟧, f'{x.shape}'\nreturn x"),
    "an early return": Case("if ⟦x.size(0) == 3⟧:\n    return x * 2\nreturn x + 1"),
    "a raise": Case("if ⟦x.size(1) != 4⟧:\n    raise ValueError(f'{x.shape}')\nreturn x"),
    "not": Case("y = ⟦not x.sum()⟧\nreturn x"),
    "and": Case("y = ⟦x.sum()⟧ and 3\nreturn x"),
    "or": Case("y = ⟦x.size(0)⟧ or 3\nreturn x * y"),
    "a condition of two": Case("if ⟦x.dim() == 2⟧ and ⟦x.size(0) > 1⟧:\n    x = x + 1\nreturn x"),
    "ternary": Case("y = 1 if ⟦x.shape[0] > 2⟧ else 2\nreturn x * y"),
    "dimensions": Case("if ⟦x.dim() == 2⟧:\n    x = x + 1\nreturn x"),
    "ndim": Case("if ⟦x.ndim == 3⟧:\n    x = x + 1\nreturn x"),
    "dtype": Case("if ⟦x.dtype == torch.float32⟧:\n    x = x + 1\nreturn x"),
    "requires_grad": Case("if ⟦x.requires_grad⟧:\n    x = x + 1\nreturn x"),
    "device type": Case("if ⟦x.device.type == 'cuda'⟧:\n    x = x + 1\nreturn x"),
    "is_cuda": Case("if ⟦x.is_cuda⟧:\n    x = x + 1\nreturn x"),
    "is_floating_point": Case("if not ⟦x.is_floating_point()⟧:\n    x = x.float()\nreturn x"),
    "shapes": Case("y = x * 2\nif ⟦x.shape != y.shape⟧:\n    x = x + 1\nreturn x + y"),
    "bool": Case("if ⟦bool(x.sum() > 0)⟧:\n    x = x + 1\nreturn x"),
    "in": Case("if ⟦x.shape[0] in (1, 2)⟧:\n    x = x + 1\nreturn x"),
    "max": Case("n = ⟦max(x.shape[0], 2)⟧\nreturn x * n"),
    "min": Case("return x[:, : ⟦min(x.shape[1], 2)⟧]"),
    "sorted": Case("a, b = ⟦sorted([x.size(0), x.size(1)])⟧\nreturn x * a"),
    "any": Case("if ⟦any([x.size(0) > 5, x.size(1) > 5])⟧:\n    x = x + 1\nreturn x"),
    "all of a generator": Case("if ⟦all(s > 2 for s in (x.size(0), x.size(1)))⟧:\n    x = x + 1\nreturn x"),
    "a filter": Case("ns = [n for n in (1, 2) if ⟦n < x.size(0)⟧]\nreturn x * len(ns)"),
    "a lambda": Case("many = lambda n: ⟦n > 2⟧ and n < 9\ny = many(x.size(0))\nreturn x"),
    "a nested function": Case(
        "def many(n):\n    if ⟦n > 2⟧:\n        return 1\n    return 2\nreturn x * many(x.size(0))"
    ),
    "a walrus": Case("if ⟦(n := x.size(0)) > 2⟧:\n    x = x * n\nreturn x"),
    "a chain": Case("y = ⟦0 < x.sum() < 1⟧\nreturn x"),
    "match": Case("match x.shape[0]:\n    case ⟦3⟧:\n        x = x + 1\nreturn x"),
    "torch.any": Case("if ⟦torch.any(x > 5)⟧:\n    x = x + 1\nreturn x"),
    "torch.equal": Case("if ⟦torch.equal(x, x)⟧:\n    x = x + 1\nreturn x"),
    "allclose": Case("if ⟦torch.allclose(x, x)⟧:\n    x = x + 1\nreturn x"),
    "isnan": Case("if ⟦torch.isnan(x).any()⟧:\n    raise RuntimeError('nan')\nreturn x"),
    "item": Case("if ⟦x.sum().item() > 100⟧:\n    x = x * 2\nreturn x"),
    "a parameter's shape": Case(
        "if ⟦self.w.shape[0] > 2⟧:\n    x = x + 1\nreturn x * self.w.sum()", "self.w = nn.Parameter(torch.zeros(4))"
    ),
}


@pytest.mark.parametrize("name", DECIDE)
def test_control_flow_is_located_at_what_decides(name: str, stands: Stands) -> None:
    stands(DECIDE[name], "FX101")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_control_flow_is_located_at_what_decides_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(DECIDE, "FX101", spelling)


TRACES = {
    "None": Case("if x is None:\n    return 0\nreturn x + 1"),
    "a flag": Case("if self.double:\n    x = x * 2\nreturn x", "self.double = True"),
    "the mode": Case("if self.training:\n    return x + 1\nreturn x", also=frozenset({"FX304"})),
    "a configured number": Case("if self.n > 2 and not self.m:\n    x = x + 1\nreturn x", "self.n, self.m = 3, 0"),
    "an attribute that is there": Case("if hasattr(self, 'n'):\n    x = x + self.n\nreturn x", "self.n = 3"),
    "where": Case("return torch.where(x > 0, x, -x)"),
    "a mask": Case("m = x > 0\nreturn x * m + x.masked_fill(~m, 0.0)"),
    "bitwise operators": Case("return x * ((x > 0) & (x < 1) | (x == 3))"),
    "clamp": Case("return x.clamp(min=0, max=x.size(0))"),
    "torch._assert": Case("torch._assert(x.size(0) == 3, 'three rows')\nreturn x"),
    "arithmetic on sizes": Case("n = x.size(0) // 2 + 1\nreturn x[:n]"),
    "a buffer's shape": Case(
        "if self.b.shape[0] > 2 and self.b.dim() == 1:\n    x = x + 1\nreturn x",
        "self.register_buffer('b', torch.zeros(4))",
    ),
    "a linear's features": Case(
        "if self.lin.in_features == 4:\n    x = self.lin(x)\nreturn x", "self.lin = nn.Linear(4, 4)"
    ),
    "a child that may be None": Case(
        "if self.down is not None:\n    x = self.down(x)\nreturn x", "self.down = nn.ReLU()"
    ),
    "a string": Case("if self.kind in ('a', 'b') and self.kind == 'a':\n    x = x + 1\nreturn x", "self.kind = 'a'"),
    "match of a string": Case(
        "match self.kind:\n    case 'a':\n        x = x + 1\n    case _:\n        x = x - 1\nreturn x",
        "self.kind = 'a'",
    ),
    "any and all of configuration": Case(
        "if any(self.flags) and not all(self.flags):\n    x = x + 1\nreturn x", "self.flags = [True, False]"
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_conditions_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


def test_a_mask_that_some_callers_leave_out_is_silent(followed: Followed) -> None:
    followed(
        """
        class Attention(nn.Module):
            def forward(self, x, mask=None):
                if mask is not None:
                    x = x + mask
                return x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Attention()
                self.b = Attention()

            def forward(self, x):
                return self.a(x) + self.b(x, mask=x * 2)
        """
    )


def test_a_problem_of_a_property_is_located_in_it(followed: Followed) -> None:
    followed(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(4))

            @property
            def scale(self):
                return 2 if ⟦self.w.shape[0] > 2⟧ else 1

            def forward(self, x):
                return x * self.w * self.scale
        """,
        "FX101",
    )


def test_the_default_of_an_input_that_is_not_passed_is_traced_all_the_same(followed: Followed) -> None:
    followed(
        """
        class Net(nn.Module):
            def forward(self, x, flag=False):
                if ⟦flag⟧:
                    x = x + 1
                return x
        """,
        "FX101",
    )
