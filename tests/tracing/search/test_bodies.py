"""What the body of a class says of its arguments before anything is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.priors.class_body import ClassBody, body_of
from tests.tracing.search.frames import constructed


class Counting:
    def __init__(self, structure: Any, config: Any, width: int) -> None:
        self.flat = [width for _ in range(config.number)]
        self.deep = [width for count in structure for _ in range(count)]
        self.simple = config.adaptive is False


class Derived(Counting):
    pass


def test_what_is_counted_up_to_is_a_count_and_so_are_the_elements_of_a_list_of_counts() -> None:
    assert body_of(Counting) == ClassBody(counts={"number", "count", "structure"}, flags={"adaptive"})


def test_a_base_says_it_too() -> None:
    assert body_of(Derived) == body_of(Counting)


def test_what_has_no_source_says_nothing() -> None:
    assert body_of(int) == body_of(print) == ClassBody()


@pytest.mark.parametrize(
    ("signature", "body", "init"),
    [
        pytest.param(
            "structure",
            "self.all = nn.Sequential(*[nn.ReLU() for part in structure for _ in range(part)])",
            "Net(structure=[2, 2, 2])",
            id="counts in a list",
        ),
        pytest.param(
            "config",
            "self.a = nn.Linear(4, 4) if config.adaptive is False else nn.AdaptiveLogSoftmaxWithLoss(4, 4, [9, 3])",
            "Net(config=__import__('types').SimpleNamespace(adaptive=False))",
            id="a flag of a configuration",
        ),
    ],
)
def test_an_argument_is_what_the_body_uses_it_as(
    signature: str, body: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    assert worker.report(write(constructed(signature, body)) + ":Net").recipe.init == init
