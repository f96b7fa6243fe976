"""Inputs that are guessed have the sizes that the user wants, as far as the model runs with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.sizes import Sizes
from tests.support.worker import Worker
from tests.tracing.search.test_feeds import net

WANTED = Sizes(batch=5, image=96, sequence=40)


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param("self.a = nn.Conv2d(3, 8, 3)", "x", "return self.a(x)", "torch.randn(5, 3, 96, 96)", id="image"),
        pytest.param("self.a = nn.Linear(7, 8)", "x", "return self.a(x)", "torch.randn(5, 40, 7)", id="sequence"),
        pytest.param(
            "self.a = nn.LSTM(6, 8)", "x", "return self.a(x)", "torch.randn(40, 5, 6)", id="the sequence first"
        ),
        pytest.param(
            "self.a = nn.Embedding(50, 8)",
            "ids",
            "return self.a(ids)",
            "torch.ones(5, 40, dtype=torch.long)",
            id="indices",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 8, 3)",
            "x",
            "assert x.shape[-1] == 64\nreturn self.a(x)",
            "torch.randn(5, 3, 64, 64)",
            id="an edge that it needs, and the batch",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 8, 3)",
            "x",
            "assert x.shape[0] == 2\nreturn self.a(x)",
            "torch.randn(2, 3, 96, 96)",
            id="a batch that it needs, and the edge",
        ),
    ],
)
def test_guessed_inputs_have_the_wanted_sizes_that_fit(
    worker: Worker, write: Callable[..., str], made: str, signature: str, run: str, inputs: str
) -> None:
    path = write(net(made, signature, run))
    report = worker.report(f"{path}:Net", sizes=WANTED)
    assert (report.recipe.source, report.recipe.inputs) == ("search", inputs)
    assert report.complete


def test_a_model_that_is_made_for_an_edge_is_made_for_the_wanted_one(worker: Worker, write: Callable[..., str]) -> None:
    path = write(
        """\
        from torch import nn


        class Net(nn.Module):
            def __init__(self, image_size):
                super().__init__()
                self.image_size = image_size
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x):
                assert x.shape[-1] == self.image_size
                return self.conv(x)
        """
    )
    recipe = worker.report(f"{path}:Net", sizes=Sizes(image=96)).recipe
    assert (recipe.init, recipe.inputs) == ("Net(image_size=96)", "torch.randn(2, 3, 96, 96)")


@pytest.mark.parametrize(
    ("made", "run", "sizes", "note"),
    [
        pytest.param("nn.Linear(7, 8)", "assert x.shape[1] == 16", Sizes(sequence=13), "a sequence of 16, not 13"),
        pytest.param("nn.Conv2d(3, 8, 3)", "assert x.shape[-1] == 64", Sizes(image=96), "images of 64, not 96"),
        pytest.param("nn.Conv2d(3, 8, 3)", "assert x.shape[0] == 2", Sizes(batch=5), "a batch of 2, not 5"),
        pytest.param(
            "nn.Linear(7, 8)",
            "assert x.shape[:2] == (2, 16)",
            Sizes(batch=5, sequence=13),
            "a sequence of 16, not 13 and a batch of 2, not 5",
        ),
    ],
)
def test_a_size_that_the_model_does_not_take_is_named(
    worker: Worker, write: Callable[..., str], made: str, run: str, sizes: Sizes, note: str
) -> None:
    path = write(net(f"self.a = {made}", "x", f"{run}\nreturn self.a(x)"))
    recipe = worker.report(f"{path}:Net", sizes=sizes).recipe
    assert recipe.sizes_note == f"runs with {note} as set"


def test_the_note_stays_with_the_guess(worker: Worker, write: Callable[..., str]) -> None:
    path = write(net("self.a = nn.Linear(7, 8)", "x", "assert x.shape[1] == 16\nreturn self.a(x)"))
    recipe = worker.report(f"{path}:Net", sizes=Sizes(sequence=13)).recipe
    guess = {"init": recipe.init, "inputs": recipe.inputs, "sizes_note": recipe.sizes_note}
    again = worker.report(f"{path}:Net", guess=guess, sizes=Sizes(sequence=13)).recipe
    assert again.sizes_note == recipe.sizes_note != ""


def test_sizes_that_fit_or_that_no_input_has_need_no_note(worker: Worker, write: Callable[..., str]) -> None:
    path = write(net("self.a = nn.Linear(7, 8)", "x", "return self.a(x)"))
    assert not worker.report(f"{path}:Net", sizes=WANTED).recipe.sizes_note


def test_what_somebody_wrote_is_left_as_it_is(worker: Worker, write: Callable[..., str]) -> None:
    path = write(net("self.a = nn.Conv2d(3, 8, 3)", "x", "return self.a(x)"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(2, 3, 64, 64)", sizes=WANTED).recipe.inputs == (
        "torch.randn(2, 3, 64, 64)"
    )
