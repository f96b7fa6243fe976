"""Constructors that torch refuses whatever they are given: an error, also if their arguments are guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from fxlsp.report.report import Report
from tests.tracing.search.frames import HEAD, constructed

NEVER = {
    "a parameter of a number": ("width", "self.a = nn.Linear(width, 4)\nself.scale = nn.Parameter(0.5)"),
    "a buffer with a dot": ("width", "self.register_buffer('a.load', torch.zeros(width))"),
    "a default with a dot": ("width, name='a.b'", "self.register_buffer(name, torch.zeros(width))"),
    "a parameter with a dot": ("width", "self.register_parameter('a.b', nn.Parameter(torch.zeros(width)))"),
    "a module with a dot": ("width, depth", "for i in range(depth):\n    self.add_module(f'block.{i}', nn.ReLU())"),
    "a buffer that is a list": ("width", "self.register_buffer('mean', [0.5] * 3)"),
    "a norm of a weight that an activation lacks": ("width", "self.act = nn.utils.spectral_norm(nn.LeakyReLU(0.2))"),
    "an initialisation of a bias": ("width, out=8", "self.a = nn.Linear(width, out)\nnn.init.orthogonal_(self.a.bias)"),
    "an initialisation by fans of a bias": ("a, b", "self.a = nn.Linear(a, b)\nnn.init.xavier_uniform_(self.a.bias)"),
    "a list of what is no module": ("width", "self.layers = nn.ModuleList([nn.ReLU, nn.ReLU])"),
    "a dict of what is no module": ("width", "self.layers = nn.ModuleDict({'a': torch.relu})"),
    "a sequence that is given a list": ("width", "self.net = nn.Sequential([nn.Linear(width, 4), nn.ReLU()])"),
    "a sequence of a function": ("width, out", "self.net = nn.Sequential(nn.Linear(width, out), torch.relu)"),
    "a module that is registered by a number": ("width, n", "for i in range(n):\n    self.add_module(i, nn.ReLU())"),
    "an index beyond a list of the code": (
        "classes, dims=(24, 48, 96)",
        "self.downs = nn.ModuleList(nn.Conv2d(dims[i], dims[i + 1], 2) for i in range(len(dims)))",
    ),
    "sizes that are unpacked into other names": ("width", "a, b = (1, 2, 3)\nself.a = nn.Linear(width, a)"),
    "a text that is added to a number": ("width", "self.a = nn.Linear(width, 4)\nself.name = 'block' + 1"),
    "an entry named as a method": ("width", "self.t = nn.ModuleDict({'type': nn.Linear(width, 4)})"),
    "the constructor of another class": ("width", "super(nn.Linear, self).__init__()"),
    "a layer for a weight": (
        "vocab, dim",
        "self.head = nn.Linear(dim, vocab)\nself.e = nn.Embedding(vocab, dim)\nself.head.weight = self.e",
    ),
}
MAY_BE_MADE = {
    "a parameter of what an argument makes": ("width, t=0.07", "self.scale = nn.Parameter(width * 0.0 + 1 / t)"),
    "a parameter of an argument": ("weight", "self.weight = nn.Parameter(weight)"),
    "a parameter of a default": (
        "width, scale=None",
        "self.a = nn.Linear(width, 4)\nself.s = nn.Parameter(scale + 0.0)",
    ),
    "a buffer named by an argument": ("name, width", "self.register_buffer(name, torch.zeros(width))"),
    "a norm of an argument": ("layer", "self.act = nn.utils.spectral_norm(layer)"),
    "a module of an argument": ("layer", "self.net = nn.Sequential(layer, torch.nn.ReLU())"),
    "an initialisation that a flag leaves out": (
        "width, bias=True",
        "self.a = nn.Linear(width, 4, bias)\nif bias:\n    nn.init.orthogonal_(self.a.bias)",
    ),
    "heads that divide some widths": ("width, heads=7", "self.a = nn.MultiheadAttention(width, heads)"),
    "an index that a number decides": ("width, depth", "self.a = nn.Linear(width, (4, 8, 16)[depth])"),
    "an index beyond a list that is given": ("width, dims", "self.a = nn.Linear(width, dims[7])"),
    "what is raised on purpose": (
        "width",
        "if width != 977:\n    raise ValueError('977')\nself.a = nn.Linear(width, 4)",
    ),
    "a layer for a weight that is given": (
        "layer",
        "self.head = nn.Linear(4, 4)\nself.e = layer\nself.head.weight = self.e",
    ),
    "modules of an argument by their attributes": (
        "layers",
        "self.width = layers[0].width\nself.layers = nn.ModuleList(layers)\nself.out = nn.Linear(self.width, 4)",
    ),
    "modules of an argument that is a list": ("layers: list", "self.layers = nn.ModuleList(layers)"),
    "a default of another kind than the code expects": (
        "width, depth, drop=0.0",
        "self.layers = nn.ModuleList(nn.Dropout(drop[i]) for i in range(depth))",
    ),
    "groups that divide some widths": ("width", "self.a = nn.GroupNorm(32, width)"),
    "what a small number leaves out": (
        "width, depth",
        "self.a = nn.Linear(width, 4)\nif depth > 1:\n    self.register_buffer('a.b', torch.zeros(width))",
    ),
}


@pytest.fixture
def severities(worker: Any, write: Callable[..., str]) -> Callable[[str, str], list[str]]:
    """Return the severities of what is reported of a class with a constructor."""

    def reported(arguments: str, body: str) -> list[str]:
        message = worker.answer(f"{write(HEAD + constructed(arguments, body))}:Net")
        if message["type"] == "failure":
            return [Failure.from_json(message["failure"]).severity]
        return [problem.severity for problem in Report.from_json(message["report"]).problems]

    return reported


@pytest.mark.parametrize(("arguments", "body"), NEVER.values(), ids=NEVER)
def test_what_is_refused_whatever_is_given_is_an_error(arguments: str, body: str, severities: Any) -> None:
    assert severities(arguments, body) == ["error"]


@pytest.mark.parametrize(("arguments", "body"), MAY_BE_MADE.values(), ids=MAY_BE_MADE)
def test_what_other_arguments_may_mend_is_none(arguments: str, body: str, severities: Any) -> None:
    assert "error" not in severities(arguments, body)
