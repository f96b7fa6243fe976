"""The report of each module contains the line that gave it its path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.report import Report

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns")

NET = """
import copy
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = nn.Linear(4, 4)
        self.made = self.make()
        self.add_module("added", nn.ReLU())
        setattr(self, "set", nn.ReLU())
        self.rows = nn.ModuleList([nn.ReLU()])
        self.rows.append(nn.ReLU())
        self.copied = copy.deepcopy(self.made)
        self.twice = nn.ReLU()
        self.twice = nn.Tanh()

    def make(self):
        return nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return self.plain(x)
"""

EXPECTED = {
    "": None,
    "plain": "self.plain",
    "made": "self.made",
    "made.0": "nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
    "made.1": "nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
    "added": 'self.add_module("added", nn.ReLU())',
    "set": 'setattr(self, "set", nn.ReLU())',
    "rows": "self.rows",
    "rows.0": "nn.ModuleList([nn.ReLU()])",
    "rows.1": "self.rows.append(nn.ReLU())",
    "copied": "self.copied",
    "copied.0": None,
    "copied.1": None,
}


def test_the_line_that_registered_a_module_is_reported(worker: Any, write: Callable[..., str]) -> None:
    file = write(NET)
    report: Report = worker.report(file + ":Net", "Net()", "torch.randn(2, 4)")
    lines = Path(file).read_text(encoding="utf-8").split("\n")
    places = {module.path: module.registration for module in report.modules}
    twice = places.pop("twice")
    assert twice is not None
    assert lines[twice.line - 1].strip() == "self.twice = nn.Tanh()"
    found = {
        path: None if place is None else lines[place.line - 1][place.column - 1 : place.end_column - 1]
        for path, place in places.items()
    }
    assert found == EXPECTED
