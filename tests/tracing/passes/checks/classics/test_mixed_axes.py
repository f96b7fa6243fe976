"""Views that mix axes or examples of the batch are reported, others are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.tracing.passes.checks.classics.mixed_axes import is_reordered, splits_rows
from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 12)
        self.c = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        {body}
"""
SEQUENCE = "torch.ones(2, 9, 12)"
IMAGE = "torch.ones(2, 3, 16, 16)"
REORDERED = {
    "pixels as tokens": ("y = self.c(x)\n        return ⟦y.view(y.shape[0], -1, 8)⟧", IMAGE),
    "tokens as pixels": ("return ⟦x.reshape(x.shape[0], 12, 3, 3)⟧", SEQUENCE),
    "height and width flattened first": ("y = self.c(x).flatten(2)\n        return ⟦y.view(-1, y.shape[2], 8)⟧", IMAGE),
    "heads before the length": ("b, t, _ = x.shape\n        return ⟦self.a(x).view(b, 4, t, 3)⟧", SEQUENCE),
    "heads that are merged where they are": (
        "b, t, _ = x.shape\n        y = x.view(b, t, 4, 3).transpose(1, 2)\n        return ⟦y.reshape(b, t, 12)⟧",
        SEQUENCE,
    ),
    "behind contiguous": ("y = self.c(x)\n        return ⟦y.contiguous().view(2, -1, 8)⟧", IMAGE),
    "the function": ("y = self.c(x)\n        return ⟦torch.reshape(y, (2, -1, 8))⟧", IMAGE),
    "the length before the batch": ("b, t, c = x.shape\n        return ⟦x.view(t, b, c)⟧", SEQUENCE),
    "the length before the batch, of which it is a multiple": (
        "b, t, c = x.shape\n        return ⟦x.view(t, b, c)⟧",
        "torch.ones(2, 8, 12)",
    ),
}
"""Views, and inputs."""
BATCH_MIXED = {
    "a wrong number of features": ("return ⟦x.flatten(1).view(-1, 8)⟧", "torch.ones(2, 1, 12)"),
    "a wrong number of pixels": ("return ⟦self.c(x).view(-1, 3 * 32 * 32)⟧", "torch.ones(6, 3, 16, 16)"),
    "windows of a length that does not fit": ("return ⟦x.reshape(-1, 6, 12)⟧", SEQUENCE),
}
RIGHT = {
    "a parameter in another shape": ("return x * self.a.weight.view(3, 4, 12).sum(0).sum(0)", SEQUENCE),
    "a product of parameters in the shape of a weight": (
        "return self.a(x) + (self.a.weight @ self.a.weight).view(9, 16).sum()",
        SEQUENCE,
    ),
    "positions that a slice shifts": (
        "b, t, c = x.shape\n        y = x.reshape(t, b, c)[1:]\n        return y.reshape(b, t - 1, c)",
        SEQUENCE,
    ),
    "positions that a padding module and a slice shift": (
        "b, t, c = x.shape\n        y = nn.ConstantPad1d((1, 0), 0.0)(x)[:, :, 1:]\n        return y.reshape(b, c, t)",
        SEQUENCE,
    ),
    "positions that hstack shifts": (
        "b, t, c = x.shape\n        y = torch.hstack([x, x])[:, t:]\n        return y.reshape(b, c, t)",
        SEQUENCE,
    ),
    "flattened": ("return self.c(x).view(x.shape[0], -1)", IMAGE),
    "flattened pixels": ("return self.c(x).view(x.shape[0], 8, -1).transpose(1, 2)", IMAGE),
    "tokens of all examples": ("return self.a(x.view(-1, 12)).view(x.shape[0], -1, 12)", SEQUENCE),
    "heads": ("b, t, c = x.shape\n        return x.view(b, t, 4, 3).transpose(1, 2).reshape(b * 4, t, 3)", SEQUENCE),
    "heads merged": (
        (
            "b, t, c = x.shape\n        y = x.view(b, t, 4, 3).transpose(1, 2)\n"
            "        return y.transpose(1, 2).reshape(b, t, c)"
        ),
        SEQUENCE,
    ),
    "pairs of a batch of two": ("return x.view(-1, 2, 12)", "torch.ones(2, 8, 12)"),
    "pairs of examples": ("return x.view(2, -1, 9, 12)", "torch.ones(6, 9, 12)"),
    "groups of channels": (
        "y = self.c(x)\n        return y.view(2, 4, 2, 16, 16).transpose(1, 2).reshape(y.shape)",
        IMAGE,
    ),
    "pixels in windows": (
        "y = self.c(x).view(2, 8, 4, 4, 4, 4)\n        return y.permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, 8)",
        IMAGE,
    ),
    "relative positions that are shifted": (
        (
            "b, t, c = x.shape\n        y = F.pad(x @ x.transpose(1, 2), (1, 0))\n"
            "        return y.view(b, t + 1, t)[:, 1:]"
        ),
        SEQUENCE,
    ),
    "one example": ("return x.view(-1, 5)", "torch.ones(1, 10, 12)"),
    "one row of the whole batch": ("return x.reshape(1, -1)", SEQUENCE),
    "sizes that are equal": ("y = self.c(x)\n        return y.view(2, 64, 8)", "torch.ones(2, 3, 2, 4)"),
}


@pytest.mark.parametrize("name", REORDERED)
def test_a_view_for_an_exchange_of_axes_is_reported(name: str, mistakes: Mistakes) -> None:
    body, inputs = REORDERED[name]
    (problem,) = mistakes(NET.format(body=body), "FX610", inputs)
    assert "keeps the numbers in their order" in problem.message


@pytest.mark.parametrize("name", BATCH_MIXED)
def test_a_view_whose_rows_are_of_two_examples_is_reported(name: str, mistakes: Mistakes) -> None:
    body, inputs = BATCH_MIXED[name]
    (problem,) = mistakes(NET.format(body=body), "FX610", inputs)
    assert "mixes the batch" in problem.message


@pytest.mark.parametrize("name", RIGHT)
def test_a_view_that_splits_or_merges_is_not_reported(name: str, mistakes: Mistakes) -> None:
    body, inputs = RIGHT[name]
    mistakes(NET.format(body=body), None, inputs)


def test_an_exchange_is_reported_for_guessed_inputs_too(mistakes: Mistakes) -> None:
    body, _ = REORDERED["pixels as tokens"]
    mistakes(NET.format(body=body), "FX610", None)


def test_an_exchange_is_reported_in_a_model_that_torch_fx_refuses(mistakes: Mistakes) -> None:
    body = "if x.sum() > 0:\n            x = x + 1\n        return ⟦x.reshape(2, 12, 9)⟧"
    mistakes(NET.format(body=body), "FX610", "torch.ones(2, 9, 12)")


def test_what_a_package_does_is_its_business(mistakes: Mistakes, write: Callable[..., str]) -> None:
    write("def scrambled(x):\n    return x.reshape(2, 12, 9)\n", "site-packages/scrambling.py")
    top = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'site-packages'))\n"
    mistakes(f"{top}from scrambling import scrambled\n" + NET.format(body="return scrambled(x)"), None, SEQUENCE)


@pytest.mark.parametrize(
    ("before", "after"),
    [((2, 24, 7, 7), (2, 49, 24)), ((2, 4, 10, 8), (2, 10, 32)), ((2, 10, 32), (2, 4, 10, 8)), ((9, 1, 4), (4, 9))],
)
def test_whole_axes_in_another_order_are_reordered(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert is_reordered(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [((2, 24, 7, 7), (2, 24, 49)), ((4, 6), (3, 8)), ((6,), (2, 3)), ((1, 5), (5, 1)), ((0, 4), (4, 0)), ((), ())],
)
def test_axes_that_are_split_or_merged_are_not_reordered(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert not is_reordered(before, after)


def test_rows_that_hold_whole_rows_are_not_split() -> None:
    assert splits_rows((4, 25), (10, 10), batch_only=True)
    assert not splits_rows((4, 6, 10), (4, 4, 15), batch_only=True)
    assert splits_rows((4, 6, 10), (4, 4, 15))
    assert not splits_rows((4, 25), (20, 5))
