"""What has to be mended first is reported first: a missing package or name, before a missing argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure

HIDDEN = {
    "a missing package": ("from no_such_package import Parallel", "Parallel(dim, dim)", "FX901", "no_such_package"),
    "a missing module": ("import no_such_package", "no_such_package.Parallel(dim)", "FX901", "no_such_package"),
    "a package under another name": ("import no_such_package as p", "p.nn.Parallel(dim)", "FX901", "no_such_package"),
    "a missing part of a package": ("from torch import no_such_part", "no_such_part(dim)", "FX901", "no_such_part"),
    "a statement": (
        "table = open('/no/such/table').read()",
        "nn.Linear(dim, len(table))",
        "FX901",
        "No such",
    ),
    "a missing name": ("", "Conv2d(dim, dim, 1)", "FX403", "Conv2d"),
    "a missing part of torch": ("", "nn.Liner(dim, dim)", "FX403", "Liner"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_the_first_cause_is_reported(name: str, worker: Any, write: Callable[..., str]) -> None:
    statement, made, code, text = HIDDEN[name]
    path = write(
        f"import torch\nfrom torch import nn\n{statement}\n\nclass Net(nn.Module):\n    def __init__(self, dim):\n"
        f"        super().__init__()\n        self.net = {made}\n\n"
        "    def forward(self, x):\n        return self.net(x)\n"
    )
    message = worker.answer(f"{path}:Net")
    assert message["type"] == "failure", message
    failure = Failure.from_json(message["failure"])
    assert failure.code == code, failure
    assert text in failure.message
    assert failure.location is not None
    assert failure.location.line == (3 if code == "FX901" else 8)


PASSED_ON = """
import torch
from torch import nn


class Start(nn.Module):
    def __init__(self, *, image_size, dim):
        super().__init__()
        self.a = nn.Conv2d(3, dim, image_size // 16)

    def forward(self, x):
        return self.a(x)


class Net(Start):
    def __init__(self, *args, **kwargs):
        {made}
        self.dim = kwargs["dim"]
        {refusal}
"""


@pytest.mark.parametrize("made", ["super().__init__(*args, **kwargs)", "Start.__init__(self, **kwargs)"])
def test_arguments_that_a_constructor_passes_on_are_no_mistake(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    path = write(PASSED_ON.format(made=made, refusal="raise RuntimeError('what nothing meets')"))
    message = worker.answer(f"{path}:Net")
    assert message["type"] == "failure"
    assert message["failure"]["failure"]["code"] != "FX403"


def test_arguments_that_a_constructor_passes_on_are_found(worker: Any, write: Callable[..., str]) -> None:
    path = write(PASSED_ON.format(made="super().__init__(*args, **kwargs)", refusal="pass"))
    report = worker.report(f"{path}:Net")
    assert report.recipe.init == "Net(image_size=64, dim=32)"
    assert report.recipe.inputs == "torch.randn(2, 3, 64, 64)"
