"""Calls that run while a model is traced, and that no node stands for, are told where they are made."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

MODEL = """
    import functools
    from random import random as draw
    from time import perf_counter

    import numpy
    import numpy as np
    import torch.utils.checkpoint as cp
    from torch.utils.checkpoint import checkpoint, checkpoint_sequential

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 77

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return -gradient, None

    double, same = Double.apply, Same.apply

    class Block(nn.Module):
        def forward(self, x):
            return BLOCK

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.Sequential(Block(), Block())
            self.lin = nn.Linear(4, 4)
            self.act = Double.apply
            self.run = functools.partial(checkpoint, use_reentrant=False)

        def helper(self, x):
            return HELPER

        def forward(self, x):
            FORWARD
    """


def model(forward: str = "return x + 1", helper: str = "x", block: str = "x + 1") -> str:
    forward = forward.replace("\n", "\n            ")
    return MODEL.replace("FORWARD", forward).replace("HELPER", helper).replace("BLOCK", block)


@pytest.mark.parametrize(
    "text",
    [
        model("return x * ⟦random.random()⟧"),
        model("if ⟦random.random()⟧ < 2:\n    x = x * 2\nreturn x"),
        model("return x * ⟦draw()⟧"),
        model("return self.block(x)", block="x * ⟦random.uniform(\n                0, 1)⟧"),
        model("return self.helper(x)", helper="x + ⟦random.choice([1, 2])⟧"),
        model("return x * float(⟦np.random.rand()⟧)"),
        model("return x * float(⟦numpy.random.normal(0, 1)⟧)"),
        model("return x * ⟦time.time()⟧"),
        model("start = ⟦perf_counter()⟧\nelapsed = 1 - start\nreturn x * (elapsed + 1)"),
        model("if ⟦time.monotonic()⟧ > 0:\n    x = x * 2\nreturn x"),
    ],
)
def test_numbers_drawn_in_python_are_reported_where(text: str, found: Found) -> None:
    found(text, "FX309")


def test_a_long_result_is_shown_in_part(found: Found) -> None:
    (problem,) = found(model("return x + float(⟦numpy.random.normal(size=(2, 9))⟧[0, 0])"), "FX309")
    assert problem.message.endswith("…) for ever.")
    assert "\n" not in problem.message


@pytest.mark.parametrize(
    "text",
    [
        model("start = time.time()\ny = self.lin(x)\nprint(time.time() - start)\nreturn y"),
        model("before = perf_counter()\ny = self.lin(x * 2)\ntook = perf_counter() - before\nreturn y"),
        model("return self.lin(x)"),
    ],
)
def test_a_time_that_is_only_measured_is_no_problem(text: str, found: Found) -> None:
    found(text)


@pytest.mark.parametrize(
    "text",
    [
        model("return ⟦Double.apply(x)⟧ + 1"),
        model("return ⟦double(x)⟧ + 1"),
        model("return ⟦same(x, 0.5)⟧ + 1"),
        model("return ⟦self.act(\n    x\n)⟧ + 1"),
        model("return self.helper(x)", helper="⟦Same.apply(x + 1, 2)⟧"),
        model("return self.block(x)", block="⟦Double.apply(x)⟧"),
    ],
)
def test_a_custom_backward_is_reported_where_it_is_applied(text: str, found: Found) -> None:
    (problem,) = found(text, "FX311")
    assert "its own backward is lost" in problem.message


def test_a_custom_function_of_constants_is_no_problem(found: Found) -> None:
    found(model("return x + Double.apply(torch.ones(4))"))


@pytest.mark.parametrize(
    "text",
    [
        model("return ⟦checkpoint(self.lin, x, use_reentrant=False)⟧"),
        model("return ⟦cp.checkpoint(\n    self.lin, x, use_reentrant=False\n)⟧"),
        model("return ⟦self.run(self.lin, x)⟧"),
        model("return ⟦functools.partial(checkpoint, use_reentrant=True)(self.lin, x)⟧"),
        model("return ⟦checkpoint_sequential(self.block, 2, x, use_reentrant=False)⟧"),
        model("return self.helper(x)", helper="⟦cp.checkpoint(lambda y: y * 2, x, use_reentrant=False)⟧"),
        model("return self.block(x)", block="⟦checkpoint(torch.relu, x, use_reentrant=False)⟧"),
    ],
)
def test_a_checkpoint_is_reported_where_it_is_called(text: str, found: Found) -> None:
    (problem,) = found(text, "FX312")
    assert problem.severity == "info"


@pytest.mark.parametrize(
    "text",
    [
        model("⟦torch.manual_seed(0)⟧\nreturn torch.rand_like(x)"),
        model("return self.block(x)", block="(⟦torch.manual_seed(0)⟧, x * 2)[1]"),
        model("⟦random.seed(\n    0\n)⟧\nreturn x + 1"),
        model("return self.helper(x)", helper="(⟦np.random.seed(0)⟧, x * 2)[1]"),
    ],
)
def test_a_seed_is_reported_where_it_is_set(text: str, found: Found) -> None:
    found(text, "FX310")


@pytest.mark.parametrize(
    "text",
    [
        model("def checkpoint(f, y):\n    return f(y)\nreturn checkpoint(self.lin, x)"),
        model("long = False\nreturn checkpoint(self.lin, x, use_reentrant=False) if long else self.lin(x)"),
        model("with cp.set_checkpoint_early_stop(False):\n    return self.lin(x)"),
    ],
)
def test_what_is_no_checkpoint_or_is_not_called_is_no_problem(text: str, found: Found) -> None:
    found(text)


@pytest.mark.parametrize(
    "text",
    [
        model("generator = torch.Generator()\ngenerator.manual_seed(0)\nreturn self.lin(x)"),
        model("random.Random(0).seed(1)\nreturn self.lin(x)"),
        model("return x * (torch.initial_seed() and 2)"),
        model("seeded = False\nif seeded:\n    torch.manual_seed(0)\nreturn torch.rand_like(x)"),
        model("return self.block(x)", block="(np.random.default_rng(0), x * 2)[1]"),
    ],
)
def test_a_generator_of_its_own_or_a_seed_that_is_not_set_is_no_problem(text: str, found: Found) -> None:
    found(text)
