"""Classes that can be called without arguments, and cannot be made like that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from tests.tracing.search.frames import HEAD, constructed


@pytest.mark.parametrize(
    ("signature", "body", "init"),
    [
        pytest.param("width=None", "self.a = nn.Linear(width * 2, 4)", "Net(width=64)", id="None does not do"),
        pytest.param("widths=()", "self.a = nn.Linear(widths[0], 4)", "Net(widths=[64])", id="nothing does not do"),
        pytest.param("act=nn.ELU", "self.a = getattr(nn, act)()", "Net(act='ELU')", id="nothing but a name"),
        pytest.param(
            "depths=None",
            "assert isinstance(depths, list), 'depths should be a list'",
            None,
            id="None is refused",
        ),
    ],
)
def test_an_argument_that_cannot_be_none_is_searched(
    signature: str, body: str, init: str | None, worker: Any, write: Callable[..., str]
) -> None:
    recipe = worker.report(write(constructed(signature, body)) + ":Net").recipe
    assert recipe.source == "search"
    assert recipe.init == init if init is not None else recipe.init.startswith("Net(depths=[")


def test_arguments_that_a_signature_hides_are_searched(worker: Any, write: Callable[..., str]) -> None:
    text = f"{HEAD}class Net(nn.GRU):\n    def forward(self, x):\n        return super().forward(x)[0]\n"
    report = worker.report(write(text) + ":Net")
    assert report.recipe.init == "Net(input_size=32, hidden_size=96)"
    assert report.complete


def test_what_is_read_of_further_arguments_is_searched(worker: Any, write: Callable[..., str]) -> None:
    text = constructed("**kwargs", "self.a = nn.Linear(kwargs['dim_in'], kwargs['dim_out'])")
    recipe = worker.report(write(text) + ":Net").recipe
    assert (recipe.init, recipe.source) == ("Net(dim_in=32, dim_out=96)", "search")


@pytest.mark.parametrize(
    ("signature", "body", "words"),
    [
        pytest.param("width=8", "assert width == 9, 'nine'", "nine", id="another default"),
        pytest.param("width=None", "self.a = nn.Linear(4)", "out_features", id="another mistake"),
        pytest.param("width=None", "raise ValueError('never')", "never", id="what no argument helps"),
    ],
)
def test_what_is_wrong_whatever_is_passed_is_reported_of_the_construction_by_defaults(
    signature: str, body: str, words: str, worker: Any, write: Callable[..., str]
) -> None:
    failure = Failure.from_json(worker.answer(write(constructed(signature, body)) + ":Net")["failure"])
    assert failure.code == "FX903"
    assert words in failure.message


FETCHED = """
import os

def fetched(name):
    if not os.path.exists(name):
        raise {error}
    return torch.load(name)

def backbone(pretrained=False, width=8):
    model = nn.Conv2d(3, width, 3)
    if pretrained:
        model.load_state_dict(fetched("no/such/file"))
    return model

class Base(nn.Module):
    def __init__(self, width=8, pretrained_base=True, **kwargs):
        super().__init__()
        self.a = backbone(pretrained_base, width)

    def forward(self, x):
        return self.a(x)
"""


@pytest.mark.parametrize(
    "error", ["FileNotFoundError(name)", "PermissionError(name)", "ValueError(f'{name} is not found')"]
)
@pytest.mark.parametrize(
    ("text", "init"),
    [
        pytest.param("class Net(Base):\n    pass\n", "Net(pretrained_base=False)", id="of a base class"),
        pytest.param(
            "class Net(Base):\n    def __init__(self, width, **kwargs):\n        super().__init__(width, **kwargs)\n",
            "Net(width=64, pretrained_base=False)",
            id="hidden in the further arguments",
        ),
        pytest.param(
            "class Net(Base):\n    def __init__(self, width=4, weights='imagenet'):\n"
            "        super().__init__(width, weights is not None)\n",
            "Net(weights=None)",
            id="by a name",
        ),
    ],
)
def test_a_model_of_which_the_trained_weights_are_not_there_is_made_without(
    text: str, init: str, error: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(HEAD + FETCHED.format(error=error) + text) + ":Net")
    assert report.recipe.init == init
    assert report.complete
