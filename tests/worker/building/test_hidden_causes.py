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
