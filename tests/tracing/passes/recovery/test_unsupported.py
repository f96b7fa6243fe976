"""Arguments and outputs of types that a graph cannot hold."""

from __future__ import annotations

import pytest

from tests.support.cases import Case, Followed, Stands, Traces

HOLDER = "class Holder:\n    def __init__(self, x):\n        self.x = x"
# Outputs of the root alone: between modules any object passes.
OUTPUTS = {
    "an object": Case("⟦return Holder(x)⟧", top=HOLDER),
    "an object in a tuple": Case("⟦return x, Holder(x)⟧", top=HOLDER),
    "a set": Case("⟦return {x}⟧"),
    "a dict with a traced key": Case("⟦return {x: 1}⟧"),
    "one of several returns": Case(
        "x = x + 1\nif self.training:\n    ⟦return {x}⟧\nreturn x", also=frozenset({"FX304"})
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_no_graph_can_hold_is_located_at_its_return(name: str, stands: Stands) -> None:
    stands(OUTPUTS[name], "FX111")


def test_an_output_made_in_a_helper_is_located_at_the_return_of_the_root(followed: Followed) -> None:
    report = followed(
        """
        class Holder:
            def __init__(self, x):
                self.x = x

        class Net(nn.Module):
            def forward(self, x):
                ⟦return self.packed(
                    x + 1,
                )⟧

            def packed(self, x):
                return Holder(x)
        """,
        "FX111",
    )
    assert report.complete


TRACES = {
    "a tuple": Case("return x, (x + 1, [x])"),
    "a dict": Case("return {'a': x, 'b': {'c': x + 1}}"),
    "None and numbers": Case("return x, None, 1, 'a'"),
    "a named tuple": Case(
        "return Pair(x, x + 1)",
        top="from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: object\n    b: object",
    ),
    "a dataclass": Case(
        "return Output(x, x + 1)",
        top="import dataclasses\n\n@dataclasses.dataclass\nclass Output:\n    a: object\n    b: object = None",
    ),
    "a dict of its own": Case(
        "return Output(a=x, b=x + 1)", top="from collections import OrderedDict\nclass Output(OrderedDict):\n    pass"
    ),
    "an object between functions": Case("return Holder(x).x + 1", top=HOLDER),
    "a slice": Case("return x[slice(0, x.size(0) // 2)]"),
    "a dtype and a device": Case("return x.to(torch.float64).to(device=x.device, dtype=x.dtype)"),
}


@pytest.mark.parametrize("name", TRACES)
def test_what_a_graph_can_hold_is_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


def test_an_object_between_modules_is_silent(followed: Followed) -> None:
    report = followed(
        """
        class Holder:
            def __init__(self, x):
                self.x = x

        class Block(nn.Module):
            def forward(self, holder):
                return Holder(holder.x + 1)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Block()
                self.b = Block()

            def forward(self, x):
                return self.b(self.a(Holder(x))).x
        """
    )
    assert report.complete
