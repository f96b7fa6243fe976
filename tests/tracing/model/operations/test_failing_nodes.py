"""Each operation that fails is reported where its cause is, with what explains it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from tests.support.marked import PREAMBLE, headlines


def related(problem: Problem) -> list[tuple[str, int]]:
    return [(place.message, place.location.line) for place in problem.related]


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
        return x[None, ..., -1], unbatched, z.split([4, 12], 1), w, x.sum().softmax(0)
"""


def test_sizes_that_fit_are_no_failures(failing: Callable[..., Any]) -> None:
    report, _ = failing(LOOK_ALIKES, "torch.ones(2, 4, 8), torch.ones(2).long()")
    assert not any(node.assumed for node in report.nodes)


STACKED = """
class Layer(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.own, self.near = nn.Linear(c_in, c_out), nn.Linear(c_in, c_out)

    def forward(self, x):
        {body}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([{layers}])
        self.first, self.second = self.layers[0], self.layers[-1]

    def forward(self, x):
        {calls}
"""
BODIES = (
    "return F.relu(⟦self.own(x) + self.near(x[1:])⟧)",
    "near = self.near(x[1:])\n        return ⟦self.own(x) * near⟧",
    "return ⟦torch.sub(self.own(x), self.near(x[:-1]))⟧.relu()",
)
STACKS = (
    ("Layer(8, 16), Layer(16, 3)", "return self.second(self.first(x))"),
    ("Layer(8, 8), Layer(8, 8)", "return self.second(self.first(x))"),
    (
        "Layer(8, 16), Layer(16, 16), Layer(16, 3)",
        "for layer in self.layers:\n            x = layer(x)\n        return x",
    ),
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("layers", "calls"), STACKS)
def test_a_failure_in_each_of_stacked_layers_is_reported_in_the_layer(
    body: str, layers: str, calls: str, failing: Callable[..., Any]
) -> None:
    failing(STACKED.format(body=body, layers=layers, calls=calls), "torch.ones(6, 8)")


def test_stacked_layers_that_fit_are_no_failures(failing: Callable[..., Any]) -> None:
    body, (layers, calls) = "return F.relu(self.own(x) + self.near(x[:1]))", STACKS[0]
    failing(STACKED.format(body=body, layers=layers, calls=calls), "torch.ones(6, 8)")


@pytest.mark.parametrize(
    ("made", "run", "headline"),
    [
        (
            "nn.MultiheadAttention(8, 2)",
            "a = self.f(x, x, x)\n        return ⟦x + a⟧",
            "`a` is the tuple that layer `f` returns, line 15: unpack it, or take the item that is meant",
        ),
        (
            "nn.GRU(8, 4)",
            "return ⟦self.f(x).relu()⟧",
            "an operand is the tuple that layer `f` returns, line 15: unpack it, or take the item that is meant",
        ),
        (
            "nn.LSTM(8, 4)",
            "y = self.f(x)\n        return ⟦y[:, -1]⟧",
            "`y` is the tuple that layer `f` returns, line 15: unpack it, or take the item that is meant",
        ),
        (
            "nn.Linear(8, 4)",
            "parts = x.chunk(2, -1)\n        return ⟦self.f(parts)⟧",
            "`parts` is the tuple that `chunk` returns, line 15: unpack it, or take the item that is meant",
        ),
        (
            "nn.Linear(8, 4)",
            "top = x.max(-1)\n        return ⟦top - x⟧",
            "`top` is the tuple that `max` returns, line 15: unpack it, or take the item that is meant",
        ),
    ],
)
def test_a_tuple_that_is_used_as_a_tensor_is_named(
    made: str, run: str, headline: str, failing: Callable[..., Any]
) -> None:
    _, found = failing(
        f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = {made}

    def forward(self, x):
        {run}
""",
        "torch.ones(3, 2, 8)",
    )
    assert headlines(found) == [headline]


@pytest.mark.parametrize("run", ["torch.cat(x.chunk(2, -1), 'no')", "x.chunk(2, -1)[0] + 'text'"])
def test_a_tuple_that_is_not_what_is_wrong_is_not_named(run: str, failing: Callable[..., Any]) -> None:
    _, found = failing(
        f"""
class Net(nn.Module):
    def forward(self, x):
        return ⟦{run}⟧
""",
        "torch.ones(3, 2, 8)",
    )
    assert all("returns" not in each for each in headlines(found))
