"""A module that is registered below itself is reported at the reference that leads back, and others are not."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

PART = """
class Part(nn.Module):
    def __init__(self, owner=None):
        super().__init__()
        {owner}
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        return {call}
"""


def net(init: str, owner: str = "pass", call: str = "self.part(x)") -> str:
    return PART.format(init=init.replace("\n", "\n        "), owner=owner, call=call)


CYCLES = {
    "in the part": (net("self.part = Part(self)", "⟦self.owner⟧ = owner"), "the Net that holds it as `part`"),
    "by the owner": (net("self.part = Part()\n⟦self.part.owner⟧ = self"), "the Net that holds it as `part`"),
    "itself": (net("⟦self.part⟧ = self", call="x"), "`part` of this Net is itself"),
    "by add_module": (net("self.part = Part()\n⟦self.part.add_module('owner', self)⟧"), "`owner` of this Part is"),
    "in a list": (
        net("self.parts = nn.ModuleList([Part(self) for _ in range(2)])", "⟦self.owner⟧ = owner", "self.parts[1](x)"),
        "the Net that holds it as `parts.0`",
    ),
    "two parts that refer to each other": (
        net("self.a = Part()\nself.b = Part()\nself.a.next = self.b\n⟦self.b.last⟧ = self.a", call="self.a(x)"),
        "`last` of this Part is the Part that holds it as `next`",
    ),
}
HARMLESS = {
    "shared parts": net("self.part = Part()\nself.again = self.part\nself.all = nn.ModuleList([self.part])"),
    "a reference in a list": net("self.part = Part(self)", "self.owner = [owner]"),
    "a reference that is not registered": net("self.part = Part(self)", "object.__setattr__(self, 'owner', owner)"),
    "a part of two parts": net("self.a = Part()\nself.b = Part()\nself.a.x = self.b.x = nn.ReLU()", call="self.a(x)"),
    "scripted parts": net("self.part = torch.jit.script(nn.ReLU())"),
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_module_below_itself_is_reported_where_it_is_referred_to(name: str, mistakes: Mistakes) -> None:
    text, message = CYCLES[name]
    (problem,) = mistakes(text, "FX611")
    assert message in problem.message
    assert "RecursionError" in problem.message


@pytest.mark.parametrize("name", HARMLESS)
def test_a_module_that_several_hold_is_no_cycle(name: str, mistakes: Mistakes) -> None:
    mistakes(HARMLESS[name])


def test_a_long_chain_of_modules_is_no_cycle(mistakes: Mistakes) -> None:
    mistakes(
        net(
            "self.part = Part()\nlast = self.part\nfor _ in range(300):\n    last.below = Part()\n    last = last.below"
        )
    )
