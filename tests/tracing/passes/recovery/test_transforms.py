"""Function transforms and higher-order operators, which want tensors: torch.fx refuses, the pass goes on."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

FUNCTIONS = "def f(x):\n    return x + 1\n\ndef g(x):\n    return x - 1\n\ndef total(x):\n    return (x * x).sum()"
REFUSED = {
    "vmap": Case("return ⟦torch.vmap(f)(x)⟧", top=FUNCTIONS),
    "vmap of torch.func": Case("return ⟦torch.func.vmap(f)(x)⟧", top=FUNCTIONS),
    "vmap of a method": Case("return ⟦torch.vmap(self.lin)(x)⟧", "self.lin = nn.Linear(4, 4)"),
    "vmap in two steps": Case("each = torch.vmap(f)\nreturn ⟦each(x)⟧ + ⟦each(x * 2)⟧", top=FUNCTIONS),
    "vmap by an import": Case("return ⟦vmap(f)(x)⟧", top="from torch.func import vmap\n" + FUNCTIONS),
    "grad": Case("return ⟦torch.func.grad(total)(x)⟧", top=FUNCTIONS),
    "jacrev": Case("return ⟦torch.func.jacrev(f)(x)⟧", top=FUNCTIONS, inputs="torch.ones(3)"),
    "cond": Case("return ⟦torch.cond(x.sum() > 0, f, g, (x,))⟧", top=FUNCTIONS),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_transform_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(REFUSED[name], "FX110")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_transform_is_located_at_its_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(REFUSED, "FX110", spelling)


TRACES = {
    "a function of functions": Case(
        "return twice(f)(x)", top=FUNCTIONS + "\n\ndef twice(h):\n    return lambda x: h(h(x))"
    ),
    "partial": Case("return functools.partial(torch.add, alpha=2)(x, x)", top="import functools"),
    "a method of that name": Case("return self.vmap(x)", "self.vmap = lambda x: x + 1"),
}


@pytest.mark.parametrize("name", TRACES)
def test_functions_of_functions_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
