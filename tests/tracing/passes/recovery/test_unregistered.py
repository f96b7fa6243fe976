"""Modules and parameters that are called without being registered: torch.fx has no path for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces, in_root

MODULES = {
    "in a list": Case("return ⟦self.l[0](x)⟧", "self.l = [nn.Linear(4, 4)]"),
    "in a dict": Case("return ⟦self.l['a'](x)⟧", "self.l = {'a': nn.Linear(4, 4)}"),
    "in a loop over a list": Case(
        "for layer in self.l:\n    x = ⟦layer(x)⟧\nreturn x", "self.l = [nn.Linear(4, 4), nn.ReLU()]"
    ),
    "in a comprehension": Case("return sum(⟦l(x)⟧ for l in self.l)", "self.l = [nn.Linear(4, 4), nn.Linear(4, 4)]"),
    "in a tuple": Case("return ⟦self.pair[0](x)⟧ + 1", "self.pair = (nn.Linear(4, 4), 1)"),
    "a container of the user's": Case("return ⟦self.l[0](x)⟧", "self.l = [nn.Sequential(nn.Linear(4, 4), nn.ReLU())]"),
    "a module of the user's": Case(
        "return ⟦self.l[0](x)⟧",
        "self.l = [Inner()]",
        top="class Inner(nn.Module):\n    def forward(self, x):\n        return x.relu() + 1",
    ),
    "a global": Case("return ⟦GLOBAL(x)⟧", top="GLOBAL = nn.Linear(4, 4)"),
    "in a closure": Case("return self.f(x)", "layer = nn.Linear(4, 4)\nself.f = lambda x: ⟦layer(x)⟧"),
    "an attribute of an object": Case(
        "return ⟦self.holder.layer(x)⟧",
        "self.holder = Holder()",
        top="class Holder:\n    def __init__(self):\n        self.layer = nn.Linear(4, 4)",
    ),
    "of the class": Case("return ⟦self.shared[0](x)⟧", "type(self).shared = [nn.ReLU()]"),
}
PARAMETERS = {
    "in a list": Case("return ⟦x * self.l[0]⟧", "self.l = [nn.Parameter(torch.ones(4))]"),
    "in a function": Case("return ⟦F.linear(x, self.l[0])⟧", "self.l = [nn.Parameter(torch.ones(4, 4))]"),
    "in a dict": Case("return ⟦x + self.l['w']⟧", "self.l = {'w': nn.Parameter(torch.ones(4))}"),
    "made in forward": Case("p = nn.Parameter(torch.ones(4))\nreturn ⟦x * p⟧"),
}
MADE = {
    "at once": Case("return ⟦nn.Linear(4, 4)(x)⟧"),
    "and named": Case("layer = nn.ReLU()\nreturn ⟦layer(x)⟧"),
    "and kept": Case("self.late = nn.Linear(4, 4)\nreturn ⟦self.late(x)⟧", also=frozenset({"FX305"})),
    "and called twice": Case("act = nn.ReLU()\nreturn ⟦act(x)⟧ + act(-x)"),
    "of the user's class": Case(
        "return ⟦Inner()(x)⟧", top="class Inner(nn.Module):\n    def forward(self, x):\n        return x.relu() + 1"
    ),
    "in a container": Case("return ⟦nn.Sequential(nn.Linear(4, 4), nn.ReLU())(x)⟧"),
}


@pytest.mark.parametrize("name", MODULES)
def test_an_unregistered_module_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(MODULES[name], "FX201")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_an_unregistered_module_is_located_at_its_call_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(MODULES, "FX201", spelling)


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_unregistered_parameter_is_located_at_its_use(name: str, stands: Stands) -> None:
    stands(PARAMETERS[name], "FX202")


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_unregistered_parameter_is_explained_without_torch_fx_first(name: str, followed: Followed) -> None:
    report = followed(in_root(PARAMETERS[name]), "FX202")
    (problem,) = [each for each in report.problems if each.code == "FX202"]
    first, _, rest = problem.message.partition("\n")
    assert first == (
        "This uses a parameter that is not registered under the root module: "
        "not in parameters(), not trained, not saved, not moved by .to()."
    )
    assert rest.startswith("torch.fx cannot trace this: NameError: parameter is not a member of this module")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_an_unregistered_parameter_is_located_at_its_use_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(PARAMETERS, "FX202", spelling)


@pytest.mark.parametrize("name", MADE)
def test_a_module_made_in_forward_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(MADE[name], "FX203")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_module_made_in_forward_is_located_at_its_call_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(MADE, "FX203", spelling)


TRACES = {
    "a module list": Case(
        "for layer in self.l:\n    x = layer(x)\nreturn x", "self.l = nn.ModuleList([nn.Linear(4, 4)])"
    ),
    "a module dict": Case("return self.l['a'](x)", "self.l = nn.ModuleDict({'a': nn.Linear(4, 4)})"),
    "a list of registered modules": Case(
        "for layer in self.l:\n    x = layer(x)\nreturn x", "self.a = nn.Linear(4, 4)\nself.l = [self.a]"
    ),
    "getattr": Case("return getattr(self, f'layer{1}')(x)", "self.layer1 = nn.Linear(4, 4)"),
    "add_module": Case("return self.a(x)", "self.add_module('a', nn.Linear(4, 4))"),
    "setattr": Case("return self.a0(x)", "for i in range(1):\n    setattr(self, f'a{i}', nn.Linear(4, 4))"),
    "children": Case("for layer in self.children():\n    x = layer(x)\nreturn x", "self.a = nn.Linear(4, 4)"),
    "a function": Case("return self.act(x)", "self.act = F.relu"),
    "a module that is not called": Case("return x + self.l[0].in_features", "self.l = [nn.Linear(4, 4)]"),
    "a parameter list": Case("return x * self.l[0]", "self.l = nn.ParameterList([nn.Parameter(torch.ones(4))])"),
    "a parameter dict": Case("return x * self.l.w", "self.l = nn.ParameterDict({'w': nn.Parameter(torch.ones(4))})"),
    "a parameter of a child": Case(
        "return F.linear(x, self.a.weight, self.a.bias)", "self.a = nn.Linear(4, 4)", also=frozenset({"FX315"})
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_what_is_registered_is_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


def test_of_a_module_made_in_forward_its_parts_are_no_problems_and_its_making_no_nodes(followed: Followed) -> None:
    report = followed(
        """
        class Part(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(4))
                self.linear = nn.Linear(4, 4)
            def forward(self, x):
                return self.linear(x) * self.scale

        class Net(nn.Module):
            def forward(self, x):
                part = Part().to(torch.float32)
                return ⟦part(x)⟧
        """,
        "FX203",
    )
    assert report.complete
    assert [node.target for node in report.nodes] == [
        "x",
        "<Part>.<Linear>",
        "<unregistered parameter>",
        "operator.mul",
        "output",
    ]


def test_a_slice_of_registered_layers_is_not_said_to_be_untrained(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))

            def forward(self, x):
                return self.blocks[2](self.blocks[:2](x))
    """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(4, 6)")
    (problem,) = (problem for problem in report.problems if problem.code == "FX203")
    assert "never trained" not in problem.message
