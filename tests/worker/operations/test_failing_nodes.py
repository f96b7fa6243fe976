"""Behind an operation that fails the model is followed, and each failure is reported where its cause is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from tests.support.marked import PREAMBLE, span_of, unmarked


@pytest.fixture
def failing(worker: Any, write: Callable[..., str]) -> Callable[..., tuple[Report, list[Problem]]]:
    """Traces a marked model, whose only failing operations are the marked ones."""

    def failing(text: str, inputs: str) -> tuple[Report, list[Problem]]:
        marked = unmarked(PREAMBLE + text)
        report = worker.report(write(marked.text) + ":Net", "Net()", inputs)
        found = sorted((each for each in report.problems if each.code == "FX401"), key=span_of)
        assert [span_of(problem) for problem in found] == marked.spans, [problem.message for problem in found]
        return report, found

    return failing


def headlines(problems: list[Problem]) -> list[str]:
    return [problem.message.partition("\n")[0] for problem in problems]


def related(problem: Problem) -> list[tuple[str, int]]:
    return [(place.message, place.location.line) for place in problem.related]


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
        return self.head(self.b(self.a(x)).flatten(1))
"""


def test_behind_a_failure_for_any_inputs_one_that_the_guess_may_cause_is_a_note(
    worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(PREAMBLE + GUESSED) + ":Net")
    found = [problem for problem in report.problems if problem.code == "FX401"]
    assert headlines(found)[0] == "layer `b` takes 16 channels, got 8"
    assert [problem.severity for problem in found] in (["error"], ["error", "info"])


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


def test_failures_among_operations_on_values_are_all_reported(failing: Callable[..., Any]) -> None:
    # The first line raises while the inputs are proxies, so forward runs again on their values.
    report, found = failing(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(self, x, y):
        assert not isinstance(x, torch.fx.Proxy)
        z = ⟦x @ y⟧
        return ⟦self.lin(z)⟧ + 1
""",
        "torch.ones(2, 3), torch.ones(5, 7)",
    )
    assert headlines(found) == [
        "matrix product of (2, 3) and (5, 7): 3 != 5",
        "layer `lin` takes 8 features, got 7",
    ]
    assert report.nodes[-1].output == {"shape": [2, 4], "dtype": "float32"}
    assert report.nodes[-1].assumed


def test_the_operation_that_ends_a_forward_on_values_has_a_headline(failing: Callable[..., Any]) -> None:
    _, found = failing(
        """
class Net(nn.Module):
    def forward(self, x, y):
        assert not isinstance(x, torch.fx.Proxy)
        return ⟦torch.bmm(x, y)⟧ + 1
""",
        "torch.ones(2, 3), torch.ones(5, 7)",
    )
    assert headlines(found) == ["matrix product of (2, 3) and (5, 7): `bmm` takes 3 and 3 dimensions"]


def test_an_error_that_the_model_catches_is_no_failure(failing: Callable[..., Any]) -> None:
    failing(
        """
class Net(nn.Module):
    def forward(self, x):
        try:
            return x @ x
        except RuntimeError:
            return x @ x.T
""",
        "torch.ones(2, 3)",
    )


def test_the_layer_and_the_origin_of_its_operand_are_related(failing: Callable[..., Any]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3)
        self.down = nn.Conv2d(64, 8, 3)

    def forward(self, x):
        x = self.stem(x)
        x = F.relu(x)
        return ⟦self.down(x)⟧
"""
    _, (found,) = failing(text, "torch.ones(2, 3, 8, 8)")
    lines = (PREAMBLE + text).splitlines()
    made, stem = (1 + next(at for at, line in enumerate(lines) if each in line) for each in ("self.down =", "stem(x)"))
    assert related(found) == [("layer `down` is made here", made), ("`x` is (2, 32, 6, 6) since here", stem)]
    first, second = found.message.split("\n")
    assert first == "layer `down` takes 64 channels, got 32"
    assert second.startswith("Given groups=1, weight of size [8, 64, 3, 3]")
    of = "Conv2d(64, 8, kernel_size=(3, 3), stride=(1, 1)) in module down, given (2, 32, 6, 6)"
    assert second.endswith(f"(RuntimeError of {of})")


BLOCKS = """
class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv(x))


class Stage(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.blocks = nn.ModuleList([Block(inputs, outputs), Block(outputs, outputs)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer3 = Stage(3, 16)
        self.layer4 = Stage(16, 32)

    def forward(self, x):
        x = self.layer3(x)
        out = self.layer4(x)
        {call}
"""


def test_a_second_call_that_does_not_fit_is_reported_at_that_call(failing: Callable[..., Any]) -> None:
    _, (found,) = failing(BLOCKS.replace("{call}", "return ⟦self.layer4(out)⟧"), "torch.ones(2, 3, 8, 8)")
    assert headlines([found]) == ["layer `conv` takes 16 channels, got 32"]
    assert found.module_path == "layer4.blocks.0.conv"
    assert [message for message, _ in related(found)] == [
        "which calls this in forward",
        "which fails here in forward",
        "layer `conv` is made here",
        "`x` is (2, 32, 8, 8) since here",
    ]


def test_a_failure_in_every_call_is_reported_where_it_happens(failing: Callable[..., Any]) -> None:
    text = BLOCKS.replace("nn.Conv2d(inputs,", "nn.Conv2d(inputs + 1,").replace("self.conv(x)", "⟦self.conv(x)⟧")
    _, (found,) = failing(text.replace("{call}", "return out"), "torch.ones(2, 3, 8, 8)")
    assert "Also in" in found.message


def test_one_of_several_modules_of_a_loop_is_reported_where_it_fails(failing: Callable[..., Any]) -> None:
    text = BLOCKS.replace("Block(outputs, outputs)", "Block(outputs + 1, outputs)")
    text = text.replace("self.conv(x)", "⟦self.conv(x)⟧").replace("Block(inputs, outputs)]", "")
    failing(text.replace("{call}", "return out"), "torch.ones(2, 3, 8, 8)")


def test_a_helper_that_others_call_rightly_is_reported_at_its_call(failing: Callable[..., Any]) -> None:
    failing(
        """
def mix(a, b):
    return a @ b

class Net(nn.Module):
    def forward(self, x, y):
        z = mix(x, y)
        return ⟦mix(z, x)⟧
""",
        "torch.ones(2, 3), torch.ones(3, 4)",
    )


LOOK_ALIKES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.conv = nn.Conv2d(8, 8, 3)
        self.norm = nn.LayerNorm((4, 8))
        self.emb = nn.Embedding(10, 8)
        self.attend = nn.MultiheadAttention(8, 2, kdim=4, vdim=6, batch_first=True)

    def forward(self, x, i):
        unbatched = self.conv(torch.ones(8, 5, 5))
        x = self.norm(self.lin(x)) + self.emb(i)[:, None] + x[..., :1]
        y, _ = self.attend(x, torch.ones(2, 3, 4), torch.ones(2, 3, 6))
        z = torch.cat([x, torch.ones(0)], dim=-1).view(2, -1, 2).softmax(-1)
        w = torch.einsum("bij,bkj->bik", x, y) @ x.expand(2, -1, 8)
        return x[None, ..., -1], unbatched, z.split([4, 12], 1), w, x.scalar_tensor if False else x.sum().softmax(0)
"""


def test_sizes_that_fit_are_no_failures(failing: Callable[..., Any]) -> None:
    report, _ = failing(LOOK_ALIKES, "torch.ones(2, 4, 8), torch.ones(2).long()")
    assert not any(node.assumed for node in report.nodes)
    assert os.path.basename(report.target) == "model.py:Net"
