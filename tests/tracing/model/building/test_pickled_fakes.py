"""Constructors may pickle, copy and save what they hold: a model is built all the same."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes, reference_of

NET = """
import copy, hashlib, io, pickle

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 512)
        self.small = nn.Linear(512, 3)
        {init}

    def forward(self, x):
        return self.small({used}(x))
"""

COPIED = {
    "a pickled parameter": ("with io.BytesIO() as f:\n            pickle.dump(self.lin.weight, f)", "self.lin"),
    "a pickled module": ("pickle.dumps(self.lin)", "self.lin"),
    "a pickled model": ("pickle.dumps(self)", "self.lin"),
    "a pickled state": ("self.size = len(pickle.dumps(self.state_dict()))", "self.lin"),
    "a pickled list": ("pickle.dumps([self.lin.weight, (self.lin.bias, 'x')])", "self.lin"),
    "a pickled tensor that is no parameter": ("pickle.dumps(torch.zeros(600, 600))", "self.lin"),
    "a pickle of protocol two": ("pickle.dumps(self.lin, protocol=2)", "self.lin"),
    "a hash": ("self.key = hashlib.md5(pickle.dumps(self.lin.weight)).hexdigest()", "self.lin"),
    "a module that is pickled and read": ("self.other = pickle.loads(pickle.dumps(self.lin))", "self.other"),
    "a model that is pickled and read": ("self.other = pickle.loads(pickle.dumps(self.small)); self.m = 1", "self.lin"),
    "a saved state": ("buffer = io.BytesIO()\n        torch.save(self.lin.state_dict(), buffer)", "self.lin"),
    "a deep copy": ("self.other = copy.deepcopy(self.lin)", "self.other"),
    "a deep copy of a parameter": ("self.lin.weight = copy.deepcopy(self.lin.weight)", "self.lin"),
    "a deep copy of a state": ("self.lin.load_state_dict(copy.deepcopy(self.lin.state_dict()))", "self.lin"),
    "a shallow copy": ("self.other = copy.copy(self.lin)", "self.other"),
    "a shallow copy of a parameter": ("self.lin.weight = copy.copy(self.lin.weight)", "self.lin"),
    "both copies": (
        "self.lin.weight = copy.copy(self.lin.weight)\n        self.other = copy.deepcopy(self.lin)",
        "self.other",
    ),
    "an array": ("self.lin.weight.detach().numpy().copy()", "self.lin"),
    "a list of numbers": ("self.first = self.lin.weight.tolist()[0][0]", "self.lin"),
    "a text": ("self.text = repr(self.lin.weight) + str(self.lin.bias)", "self.lin"),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_a_constructor_copies_does_not_matter(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, used = COPIED[name]
    text = PREAMBLE + textwrap.dedent(NET).format(init=init, used=used)
    inputs = "torch.randn(2, 512)"
    reference = reference_of(text, inputs)
    assert reference.error is None, reference.error
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert report.verdict.traceable
    assert report.complete
    assert output_shapes(report) == reference.shape
    assert not [problem for problem in report.problems if problem.severity in ("error", "warning")], report.problems
