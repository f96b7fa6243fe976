"""Behind an operation that fails the model is followed with what it would yield."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.marked import PREAMBLE, headlines

FOUR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)
        self.down = nn.Conv2d(64, 8, 3, stride=2, padding=1)
        self.head = nn.Linear(100, 10)
        self.other = nn.Linear(20, 5)

    def forward(self, x):
        x = self.stem(x)
        x = ⟦self.norm(x)⟧
        x = ⟦self.down(x)⟧{decision}
        x = ⟦self.head(x.flatten(1))⟧
        return ⟦self.other(x)⟧
"""

DECISIONS = ["", "\n        if x.sum() > 0:\n            x = x * 2"]


@pytest.mark.parametrize("decision", DECISIONS)
def test_four_independent_mistakes_are_all_reported(decision: str, failing: Callable[..., Any]) -> None:
    report, found = failing(FOUR.replace("{decision}", decision), "torch.ones(2, 3, 8, 8)")
    assert headlines(found) == [
        "layer `norm` takes 32 channels, got 16",
        "layer `down` takes 64 channels, got 32",
        "layer `head` takes 100 features, got 128",
        "layer `other` takes 20 features, got 10",
    ]
    known = {node.name: (node.output or {}).get("shape") for node in report.nodes}
    assert known["down"] == [2, 8, 4, 4]
    assert known["output"] == [2, 5]
    assert [node.name for node in report.nodes if not node.assumed] == ["x", "stem"]
    assert not report.complete


def test_a_residual_of_the_operand_that_does_not_fit_is_not_reported_as_well(failing: Callable[..., Any]) -> None:
    report, _ = failing(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3)
        self.conv1 = nn.Conv2d(16, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(20, 2)

    def forward(self, x):
        x = self.stem(x)
        y = F.relu(⟦self.conv1(x)⟧)
        y = self.conv2(y) + F.relu(x)
        return ⟦self.head(y.mean((2, 3)))⟧
""",
        "torch.ones(2, 3, 8, 8)",
    )
    assert report.nodes[-1].output == {"shape": [2, 2], "dtype": "float32"}


def test_each_layer_that_an_operand_does_not_fit_is_reported(failing: Callable[..., Any]) -> None:
    failing(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x):
        return ⟦self.q(x)⟧ @ ⟦self.k(x)⟧.T
""",
        "torch.ones(2, 24)",
    )


ADDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear({wanted}, 4)
        self.head = nn.Linear({head}, 2)

    def forward(self, x, y):
        z = F.relu(⟦x + y⟧)
        return {second}
"""


@pytest.mark.parametrize("wanted", [16, 8])
def test_what_only_follows_from_an_assumption_is_not_reported(wanted: int, failing: Callable[..., Any]) -> None:
    # The layer runs with the size of one of the operands.
    text = ADDED.format(wanted=wanted, head=4, second="self.head(self.lin(z))")
    report, _ = failing(text, "torch.ones(2, 16), torch.ones(2, 8)")
    assert report.nodes[-1].output == {"shape": [2, 2], "dtype": "float32"}


def test_what_fails_with_either_operand_is_reported(failing: Callable[..., Any]) -> None:
    text = ADDED.format(wanted=12, head=4, second="self.head(⟦self.lin(z)⟧)")
    report, _ = failing(text, "torch.ones(2, 16), torch.ones(2, 8)")
    assert report.nodes[-1].output == {"shape": [2, 2], "dtype": "float32"}


@pytest.mark.parametrize("wanted", [16, 8])
def test_behind_a_layer_that_decides_for_one_operand_failures_are_reported(
    wanted: int, failing: Callable[..., Any]
) -> None:
    text = ADDED.format(wanted=wanted, head=5, second="⟦self.head(self.lin(z))⟧")
    failing(text, "torch.ones(2, 16), torch.ones(2, 8)")


@pytest.mark.parametrize("view", ["x.view(-1, 50)", "x.view((2, 50))", "torch.reshape(x, (-1, 50))"])
@pytest.mark.parametrize("features", [50, 36])
def test_a_view_is_meant_to_have_the_size_that_the_next_layer_takes(
    view: str, features: int, failing: Callable[..., Any]
) -> None:
    report, _ = failing(
        f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear({features}, 4)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return ⟦self.head(self.lin(⟦{view}⟧))⟧
""",
        "torch.ones(2, 6, 6)",
    )
    assert report.nodes[-1].output == {"shape": [2, 3], "dtype": "float32"}


def test_a_check_of_a_size_that_is_uncertain_is_not_reported(failing: Callable[..., Any]) -> None:
    failing(
        """
class Net(nn.Module):
    def forward(self, x, y):
        z = ⟦x + y⟧
        if z.shape[1] != 8:
            raise ValueError("8 channels are required")
        return z
""",
        "torch.ones(2, 16), torch.ones(2, 8)",
    )


GUESSED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3)
        self.b = nn.Conv2d(16, 4, 3)
        self.head = nn.Linear(4 * 28 * 28, 2)

    def forward(self, x):
        x = self.b(self.a(x)).flatten(1)
        return self.head(x)
"""


def test_behind_a_failure_for_any_inputs_one_that_the_guess_may_cause_is_a_note(
    worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(PREAMBLE + GUESSED) + ":Net")
    found = [problem for problem in report.problems if problem.code == "FX401"]
    assert {each.severity: headlines([each])[0] for each in found} == {
        "error": "layer `b` takes 16 channels, got 8",
        "info": "With other inputs this may work: layer `head` takes 3136 features, got 14400",
    }


def test_sizes_that_differ_between_joined_tensors_hide_no_other_mistake(failing: Callable[..., Any]) -> None:
    report, found = failing(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 4, 3)
        self.lin = nn.Linear(7, 2)

    def forward(self, x, y):
        z = self.conv(⟦torch.cat([x, y], 1)⟧)
        return ⟦self.lin(z.mean((2, 3)))⟧
""",
        "torch.ones(2, 4, 9, 9), torch.ones(2, 4, 8, 8)",
    )
    assert headlines(found)[1] == "layer `lin` takes 7 features, got 4"
    assert report.nodes[-1].output == {"shape": [2, 2], "dtype": "float32"}
