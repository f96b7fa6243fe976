"""Call sites that cannot make the model here: it is made by search, and what kept them from it is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure

NET = """
import torch
from torch import nn

h = None

class Net(nn.Module):
    def __init__(self, width{default}):
        super().__init__()
        {body}
        self.a = nn.Linear(4, 8)

    def forward(self, x):
        return self.a(x)
"""

OF_CALL_SITE = {
    "a global variable that a script sets": ("Net(h)", "", "self.n = width + 1"),
    "a file that is not there": ("Net(open('no-such-file').read())", "", "pass"),
    "a size that does not fit": ("Net(9)", "", "assert width % 2 == 0, 'even'"),
}


@pytest.mark.parametrize("name", OF_CALL_SITE)
def test_a_model_that_its_call_site_cannot_make_here_is_made_by_search_and_the_failure_said(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    init, default, body = OF_CALL_SITE[name]
    text = NET.format(default=default, body=body)
    report = worker.report(write(text) + ":Net", init, None, source="call-site")
    assert report.recipe.source == "search"
    assert report.complete
    (problem,) = [each for each in report.problems if each.code == "FX903"]
    assert problem.severity == "info"
    assert problem.message.startswith(f"cannot build {init}: ")


KEPT = {
    "the code is wrong whatever it is given": ("Net(8)", "call-site", "self.n = no_such_name", "FX403"),
    "the user stated the recipe": ("Net(9)", "comment", "assert width % 2 == 0, 'even'", "FX903"),
    "no arguments do": ("Net(8)", "call-site", "raise ValueError('never')", "FX903"),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_failure_that_no_other_arguments_mend_stays_one(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, source, body, code = KEPT[name]
    text = NET.format(default="", body=body)
    failure = Failure.from_json(worker.answer(write(text) + ":Net", init, None, source=source)["failure"])
    assert failure.code == code
    assert failure.message.startswith(f"cannot build {init}: ")


def test_where_no_arguments_are_found_it_is_reported_how_guessed_ones_fail(
    worker: Any, write: Callable[..., str]
) -> None:
    text = NET.format(default="", body="self.b = nn.Linear(width / 2, 4)")
    failure = Failure.from_json(worker.answer(write(text) + ":Net")["failure"])
    first, second = failure.message.split("\n")
    assert first.startswith("Net needs the argument width: ")
    assert second.startswith("With guessed arguments it fails: TypeError: ")
