"""Attributes that hide methods of ``nn.Module`` cost a model nothing that torch.fx does not refuse."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)
        {assigned}

    {member}

    def forward(self, x):
        x = {before}
        return {result}
"""

HIDDEN = {
    "a list of modules": ("self.modules = [self.l]", "self.modules[0](x)"),
    "a dictionary of parameters": ("self.parameters = {'lr': 2}", "self.l(x) * self.parameters['lr']"),
    "a list of children": ("self.children = [self.l, self.bn]", "self.children[1](self.children[0](x))"),
    "a list of buffers": ("self.buffers = []", "self.l(x)"),
    "a number of buffers": ("self.named_buffers = 0", "self.l(x)"),
    "names of parameters": ("self.named_parameters = ['l']", "self.l(x)"),
    "names of modules": ("self.named_modules = ['l']", "self.l(x)"),
    "names of children": ("self.named_children = ['l']", "self.l(x)"),
    "modes": ("self.train = True\n        self.eval = False", "self.l(x) if self.train else x"),
    "casts": ("self.float = 1.0\n        self.half = 2.0\n        self.type = 'a'", "self.l(x) * self.half"),
    "a state": ("self.state_dict = {}\n        self.load_state_dict = None", "self.l(x)"),
    "apply and to": ("self.apply = 1\n        self.to = 2\n        self.cuda = 3\n        self.cpu = 4", "self.l(x)"),
    "a name": ("self._get_name = 'net'", "self.l(x)"),
    "a lookup": ("self.get_submodule = {}\n        self.get_parameter = {}", "self.l(x)"),
    "a device move": (
        "self.requires_grad_ = False\n        self.share_memory = 1\n        self.extra_repr = ''",
        "self.l(x)",
    ),
    "a gradient": ("self.zero_grad = True\n        self.register_buffer = 1", "self.l(x)"),
}


def _of_torch(text: str) -> BaseException | None:
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(text, namespace)
    try:
        torch.fx.symbolic_trace(namespace["Net"]())
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("branch", [False, True], ids=["straight", "branch"])
@pytest.mark.parametrize("name", HIDDEN)
def test_the_verdict_is_that_of_torch_fx(name: str, branch: bool, worker: Any, write: Callable[..., str]) -> None:
    assigned, result = HIDDEN[name]
    before = "x + 1 if x.sum() > 0 else x - 1" if branch else "x + 1"
    text = textwrap.dedent(MODEL).format(assigned=assigned, member="", before=before, result=result)
    error = _of_torch(text)
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.ones(3, 4)")
    assert report.verdict.traceable == (error is None), report.verdict
    assert report.complete
    assert "linear" in str(report.nodes).lower()
    codes = [problem.code for problem in report.problems if problem.severity in ("error", "warning")]
    # What hides a method that torch.fx calls is one problem, the branch another.
    assert len(codes) == branch + isinstance(error, TypeError), report.problems


METHODS = {
    "modules": ("def modules(self):\n        return 3", "self.l(x) * self.modules()"),
    "children with another signature": (
        "def children(self, depth):\n        return [self.l]",
        "self.children(1)[0](x)",
    ),
    "parameters with another signature": (
        "def parameters(self, x):\n        return x * 2",
        "self.parameters(self.l(x))",
    ),
    "a property": ("@property\n    def modules(self):\n        return [self.l]", "self.modules[0](x)"),
    "a class attribute": ("children = ('l',)", "getattr(self, self.children[0])(x)"),
    "buffers of a class": ("buffers = None", "self.l(x)"),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_class_may_have_these_names_too(name: str, worker: Any, write: Callable[..., str]) -> None:
    member, result = METHODS[name]
    text = textwrap.dedent(MODEL).format(assigned="pass", member=member, before="x + 1", result=result)
    error = _of_torch(text)
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.ones(3, 4)")
    assert report.verdict.traceable == (error is None), report.verdict
    assert report.complete
