"""Functions and modules that are scripted or compiled: torch.fx refuses them, the pass goes on behind them."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

SCRIPTED = "@torch.jit.script\ndef scripted(x):\n    return x + 1"
COMPILED = "@torch.compile\ndef compiled(x):\n    return x + 1"
REFUSED = {
    "a scripted function": Case("return ⟦scripted(x)⟧", top=SCRIPTED),
    "a scripted function of two": Case("return ⟦scripted(x)⟧ + ⟦scripted(x * 2)⟧", top=SCRIPTED),
    "a compiled function": Case("return ⟦compiled(x)⟧", top=COMPILED),
    "a function compiled by a call": Case(
        "return ⟦fast(x)⟧", top="def plain(x):\n    return x + 1\n\nfast = torch.compile(plain)"
    ),
    "a compiled module": Case("return ⟦self.c(x)⟧", "self.c = torch.compile(nn.Linear(4, 4))"),
    "a compiled module of the user's": Case(
        "return ⟦self.c(x)⟧",
        "self.c = torch.compile(Inner())",
        top="class Inner(nn.Module):\n    def forward(self, x):\n        return x.relu() + 1",
    ),
    "a compiled module in a container": Case(
        "for layer in self.layers:\n    x = ⟦layer(x)⟧\nreturn x",
        "self.layers = nn.ModuleList([torch.compile(nn.ReLU())])",
    ),
    "a compiled attribute": Case("return ⟦self.f(x)⟧", "self.f = torch.compile(torch.relu)"),
    "a compiled method of another object": Case(
        "return ⟦self.shift(x)⟧",
        "self.shift = Shift().shift",
        top="class Shift:\n    @torch.compile\n    def shift(self, x):\n        return x + 1",
        is_complete=False,
    ),
    "a scripted attribute": Case(
        "return ⟦self.f(x)⟧", "self.f = torch.jit.script(plain)", top="def plain(x):\n    return x + 1\n"
    ),
    "compiled where it is called": Case(
        "return ⟦torch.compile(plain)(x)⟧", top="def plain(x):\n    return x + 1\n", is_complete=False
    ),
    "a compiled forward": Case(
        "return ⟦self.c(x)⟧",
        "self.c = Inner()",
        top="class Inner(nn.Module):\n    @torch.compile\n    def forward(self, x):\n        return x.relu() + 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_compiled_function_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(REFUSED[name], "FX109")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_compiled_function_is_located_at_its_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(REFUSED, "FX109", spelling)


TRACES = {
    "a scripted function that is not called": Case("return x + 1", top=SCRIPTED),
    "a compiled function that is not called": Case("return x + 1", top=COMPILED),
    "a function that torch is told to ignore": Case(
        "return ignored(x)", top="@torch.jit.ignore\ndef ignored(x):\n    return x + 1"
    ),
    "a method that torch is told to export": Case(
        "return self.exported(x)", top="", init="self.exported = torch.jit.unused(lambda x: x + 1)"
    ),
    "a scripted module of the old kind": Case(
        "return self.a(x) * 2",
        "self.a = Old()",
        top="class Old(torch.jit.ScriptModule):\n"
        "    def __init__(self):\n        super().__init__()\n        self.register_buffer('b', torch.ones(4))\n"
        "    @torch.jit.script_method\n    def forward(self, x):\n        return x + self.b\n",
    ),
    "a guard": Case("if torch.jit.is_scripting():\n    return x\nreturn x + 1"),
    "a module that can be scripted": Case("return self.a(x)", "self.a = nn.Sequential(nn.Linear(4, 4), nn.ReLU())"),
}


@pytest.mark.parametrize("name", TRACES)
def test_what_is_not_compiled_is_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
