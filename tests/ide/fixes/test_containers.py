"""Modules in a list or dict become registered, in the file's own import style, where the container can be replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import HEAD, assert_it_traces, changed, fixed, net

CODE = "FX201"

LINEAR = "nn.Linear(4, 4)"


@pytest.mark.parametrize(
    ("initialisation", "forward", "changes"),
    [
        (
            "self.bs = [nn.Linear(4, 8)]",
            "return «self.bs[0](x)»",
            [("[nn.Linear(4, 8)]", "nn.ModuleList([nn.Linear(4, 8)])")],
        ),
        (
            "self.bs = [nn.Linear(4, 4) for _ in range(3)]  # blocks",
            "for b in self.bs:\n    x = «b(x)»\nreturn x",
            [("[nn.Linear(4, 4) for _ in range(3)]", "nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])")],
        ),
        (
            "self.bs = [\n    nn.Linear(4, 4),  # in\n    nn.ReLU(),  # außen\n]",
            "for i, b in enumerate(self.bs):\n    x = «b(\n        x\n    )» + i\nreturn x",
            [("= [\n", "= nn.ModuleList([\n"), ("        ]\n", "        ])\n")],
        ),
        (
            "self.a, n = 1, 2\nself.bs = list(nn.Linear(4, 4) for _ in range(n))",
            "for k, b in zip(range(9), reversed(self.bs)):\n    x = «b(x)»\nreturn x",
            [("list(nn", "nn.ModuleList(nn")],
        ),
        (
            "self.bs = ([nn.Linear(4, 8)])",
            "b = self.bs[-1]\nreturn «b(x)»",
            [("([nn.Linear(4, 8)])", "(nn.ModuleList([nn.Linear(4, 8)]))")],
        ),
        (
            "self.bs = nn.ReLU(), nn.Linear(4, 8)",
            "return «self.bs[1](self.bs[0](x))»",
            [("nn.ReLU(), nn.Linear(4, 8)", "nn.ModuleList((nn.ReLU(), nn.Linear(4, 8)))")],
        ),
        (
            "self.bs = (nn.Linear(4, 8),)",
            "return «self.bs[0](x)»",
            [("(nn.Linear(4, 8),)", "nn.ModuleList((nn.Linear(4, 8),))")],
        ),
        (
            "self.bs = []\nfor _ in range(2):\n    self.bs.append(nn.Linear(4, 4))\nself.bs.append(nn.ReLU())",
            "for b in self.bs[1:]:\n    x = «b(x)»\nreturn x",
            [("self.bs = []", "self.bs = nn.ModuleList()")],
        ),
        (
            "layers = []\nfor _ in range(2):\n    layers.append(nn.Linear(4, 4))\nself.bs = layers",
            "for b in self.bs:\n    x = «b(x)»\nreturn x",
            [("self.bs = layers", "self.bs = nn.ModuleList(layers)")],
        ),
        (
            "self.bs = {'one': nn.Linear(4, 8), 'two': nn.ReLU()}",
            "return «self.bs['one'](x)»",
            [
                (
                    "{'one': nn.Linear(4, 8), 'two': nn.ReLU()}",
                    "nn.ModuleDict({'one': nn.Linear(4, 8), 'two': nn.ReLU()})",
                )
            ],
        ),
        (
            "self.bs = {f'b{i}': nn.Linear(4, 4) for i in range(2)}",
            "for _, b in self.bs.items():\n    x = «b(x)»\nreturn x",
            [("= {f'b{i}'", "= nn.ModuleDict({f'b{i}'"), ("range(2)}", "range(2)})")],
        ),
        (
            "self.bs = {}\nself.bs['one'] = nn.Linear(4, 4)",
            "for b in self.bs.values():\n    x = «b(x)»\nreturn x",
            [("self.bs = {}", "self.bs = nn.ModuleDict()")],
        ),
        (
            "self.bs = dict(one=nn.Linear(4, 8))",
            "return «self.bs['one'](x)»",
            [("dict(one=nn.Linear(4, 8))", "nn.ModuleDict(dict(one=nn.Linear(4, 8)))")],
        ),
        (
            "self.bs: list[nn.Module] = [nn.Linear(4, 8)]",
            "return «self.bs[0](x)»",
            [("list[nn.Module] = [nn.Linear(4, 8)]", "nn.ModuleList = nn.ModuleList([nn.Linear(4, 8)])")],
        ),
        (
            "self.bs = [nn.Linear(4, 4).eval()]",
            "return sum([«b(x)» for b in self.bs])",
            [("[nn.Linear(4, 4).eval()]", "nn.ModuleList([nn.Linear(4, 4).eval()])")],
        ),
    ],
)
def test_modules_in_a_container_are_registered(
    initialisation: str, forward: str, changes: list[tuple[str, str]], worker: Any, write: Callable[..., str]
) -> None:
    text = net(initialisation, forward)
    after = fixed(text, CODE)
    assert after == changed(text, *changes)
    assert_it_traces(worker, write, text, after)


STYLES: list[Any] = [
    ("import torch\nimport torch.nn as nn", "nn.", "nn.Module", ("[nn.", "nn.ModuleList([nn.")),
    ("import torch", "torch.nn.", "torch.nn.Module", ("[torch.nn.", "torch.nn.ModuleList([torch.nn.")),
    ("import torch\nfrom torch import nn as N", "N.", "N.Module", ("[N.", "N.ModuleList([N.")),
    ("import torch.nn", "torch.nn.", "torch.nn.Module", ("[torch.nn.", "torch.nn.ModuleList([torch.nn.")),
    ("from torch.nn import *", "", "Module", ("[", "ModuleList([")),
    ("from torch.nn import Linear, Module, ModuleList", "", "Module", ("[", "ModuleList([")),
    ("from torch.nn import Linear, Module, ModuleList as ML", "", "Module", ("[", "ML([")),
    (
        "from torch.nn import Linear, Module",
        "",
        "Module",
        ("[", "ModuleList(["),
        ("Linear, Module", "Linear, Module, ModuleList"),
    ),
    (
        "from torch.nn import (\n    Linear,  # dense\n    Module,\n    ReLU,\n)",
        "",
        "Module",
        ("[", "ModuleList(["),
        ("    ReLU", "    ModuleList,\n    ReLU"),
    ),
    (
        "import torch\nfrom torch.nn import (\n\tModule,\n\tLinear\n)",
        "",
        "Module",
        ("[", "ModuleList(["),
        ("\tLinear", "\tLinear,\n\tModuleList"),
    ),
    (
        "import torch\nfrom torch import nn\nfrom torch.nn import Linear",
        "",
        "nn.Module",
        ("[", "ModuleList(["),
        ("import Linear", "import Linear, ModuleList"),
    ),
]


@pytest.mark.parametrize(("style"), STYLES, ids=[style[0].replace("\n", "; ") for style in STYLES])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_name_is_written_in_the_file_s_own_style(
    style: Any, newline: str, worker: Any, write: Callable[..., str]
) -> None:
    imports, prefix, module, change, *others = style
    text = (
        f"{imports}\n\nclass Net({module}):\n\tdef __init__(self):\n\t\tsuper().__init__()\n"
        f"\t\tself.bs = [{prefix}Linear(4, 8)]  # é\n\n\tdef forward(self, x):\n\t\treturn «self.bs[0](x)»\n"
    ).replace("\n", newline)
    after = fixed(text, CODE)
    assert after is not None
    opening = (f"self.bs = {change[0]}", f"self.bs = {change[1]}")
    closing = ("Linear(4, 8)]", "Linear(4, 8)])")
    edits = [(old.replace("\n", newline), new.replace("\n", newline)) for old, new in others]
    assert after == changed(text, opening, closing, *edits)
    if newline == "\n":
        assert_it_traces(worker, write, text, after)


def test_a_list_of_a_base_class_is_registered_there(worker: Any, write: Callable[..., str]) -> None:
    base = (
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bs = [Block()]\n\n\n"
    )
    block = "class Block(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n\n"
    text = f"{HEAD}{block}{base}class Net(Base):\n    def forward(self, x):\n        return «self.bs[0](x)»\n"
    after = fixed(text, CODE)
    assert after == changed(text, ("[Block()]", "nn.ModuleList([Block()])"))
    assert_it_traces(worker, write, text, after)


def test_an_element_that_the_problem_says_is_a_module_needs_no_further_evidence(
    worker: Any, write: Callable[..., str]
) -> None:
    helper = "def block(n):\n    return nn.Linear(n, n)\n\n\n"
    text = net("self.bs = [block(4), block(4)]", "return «self.bs[0](x)»", HEAD + helper)
    after = fixed(text, CODE)
    assert after == changed(text, ("[block(4), block(4)]", "nn.ModuleList([block(4), block(4)])"))
    assert_it_traces(worker, write, text, after)


@pytest.mark.parametrize(
    ("initialisation", "forward"),
    [
        ("self.bs = [nn.Linear(4, 8), torch.relu]", "return «self.bs[0](x)»"),
        ("self.bs = [nn.Linear(4, 8), make()]", "return «self.bs[0](x)»"),
        ("self.bs = [[nn.Linear(4, 8)]]", "return «self.bs[0][0](x)»"),
        ("self.bs = [[nn.Linear(4, 8)]]", "for stage in self.bs:\n    for b in stage:\n        x = «b(x)»\nreturn x"),
        ("self.bs = {0: nn.Linear(4, 8)}", "return «self.bs[0](x)»"),
        ("self.bs = {'a.b': nn.Linear(4, 8)}", "return «self.bs['a.b'](x)»"),
        ("self.bs = {'type': nn.Linear(4, 8)}", "return «self.bs['type'](x)»"),
        ("self.bs = {'a': nn.Linear(4, 8)}", "b = self.bs.get('a')\nreturn «self.bs['a'](x)»"),
        ("self.bs = [nn.Linear(4, 4)] * 3", "return «self.bs[0](x)»"),
        ("self.a = nn.Linear(4, 4)\nself.bs = [self.a, nn.ReLU()]", "return «self.bs[1](x)»"),
        ("self.bs = [nn.Linear(4, 4)]\nself.bs.sort()", "return «self.bs[0](x)»"),
        ("self.bs = [nn.Linear(4, 4)]\nself.bs = self.bs + [nn.ReLU()]", "return «self.bs[0](x)»"),
        ("self.bs = [nn.Linear(4, 4)]\nself.bs += [nn.ReLU()]", "return «self.bs[0](x)»"),
        ("self.bs = [nn.Linear(4, 4)]\nself.bs[0:0] = []", "return «self.bs[0](x)»"),
        ("layers = [nn.Linear(4, 4)]\nself.bs = layers\nlayers.append(nn.ReLU())", "return «self.bs[0](x)»"),
        ("self.bs = self.cs = [nn.Linear(4, 4)]", "return «self.bs[0](x)»"),
        ("self.bs, n = [nn.Linear(4, 4)], 1", "return «self.bs[0](x)»"),
        ("self.bs = [nn.Linear(4, 4)]", "self.bs = [nn.Linear(4, 4)]\nreturn «self.bs[0](x)»"),
        ("bs = [nn.Linear(4, 4)]", "return «BLOCKS[0](x)»"),
    ],
)
def test_what_torch_s_container_would_not_take_is_left_alone(initialisation: str, forward: str) -> None:
    assert fixed(net(initialisation, forward), CODE) is None


def test_a_list_made_before_the_module_is_initialised_is_left_alone() -> None:
    text = net("self.bs = [nn.Linear(4, 8)]", "return «self.bs[0](x)»")
    lines = text.split("\n")
    at = lines.index("        super().__init__()")
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    assert fixed("\n".join(lines), CODE) is None
    assert fixed(text.replace("        super().__init__()\n", ""), CODE) is None


def test_a_problem_of_a_whole_line_is_found_by_its_only_call() -> None:
    text = net("self.bs = [nn.Linear(4, 8)]", "«return self.bs[0](x)»")
    assert fixed(text, CODE) == changed(text, ("[nn.Linear(4, 8)]", "nn.ModuleList([nn.Linear(4, 8)])"))


@pytest.mark.parametrize(
    ("initialisation", "forward", "changes"),
    [
        (
            "self.ps = [nn.Parameter(torch.ones(4))]",
            "return «x * self.ps[0]»",
            [("[nn.Parameter(torch.ones(4))]", "nn.ParameterList([nn.Parameter(torch.ones(4))])")],
        ),
        (
            "self.ps = []\nfor _ in range(2):\n    self.ps.append(nn.Parameter(torch.ones(4)))",
            "for p in self.ps:\n    x = «x * p»\nreturn x",
            [("self.ps = []", "self.ps = nn.ParameterList()")],
        ),
        (
            "self.ps = {'a': torch.nn.Parameter(torch.ones(4))}",
            "return «x + self.ps['a']»",
            [("= {'a'", "= torch.nn.ParameterDict({'a'"), ("ones(4))}", "ones(4))})")],
        ),
    ],
)
def test_parameters_in_a_container_are_registered(
    initialisation: str, forward: str, changes: list[tuple[str, str]], worker: Any, write: Callable[..., str]
) -> None:
    text = net(initialisation, forward)
    after = fixed(text, "FX202")
    assert after == changed(text, *changes)
    assert_it_traces(worker, write, text, after)


def test_a_parameter_that_the_graph_takes_for_a_constant_is_registered(worker: Any, write: Callable[..., str]) -> None:
    text = net("self.ps = [nn.Parameter(torch.ones(4))]", "for p in self.ps:\n    x = x * «p.exp()»\nreturn x")
    after = fixed(text, "FX308")
    assert after == changed(text, ("[nn.Parameter(torch.ones(4))]", "nn.ParameterList([nn.Parameter(torch.ones(4))])"))
    assert_it_traces(worker, write, text, after, did_trace=True)


@pytest.mark.parametrize(
    "initialisation", ["self.ps = [torch.ones(4)]", "self.ps = [nn.Parameter(torch.ones(4)), make()]", "self.ps = []"]
)
def test_what_is_not_evidently_a_parameter_is_left_alone(initialisation: str) -> None:
    assert fixed(net(initialisation, "return «x * self.ps[0]»"), "FX202") is None


@pytest.mark.parametrize(
    "other",
    [
        "class Other(Net):\n    def setup(self):\n        self.bs = None\n",
        "class Other(Net):\n    def setup(self):\n        self.bs.sort()\n",
        "class Other(Net):\n    def setup(self):\n        self.bs.append(torch.relu)\n",
    ],
)
def test_what_a_subclass_does_with_a_container_counts(other: str) -> None:
    text = net("self.bs = [nn.Linear(4, 8)]", "return «self.bs[0](x)»")
    assert fixed(f"{text}\n\n{other}", CODE) is None
    assert fixed(f"{text}\n\n{other.replace('(Net)', '(nn.Module)')}", CODE) is not None
    base = text.replace("    def forward", "\nclass Last(Net):\n    def forward")
    assert fixed(base, CODE) is not None
    assert fixed(f"{base}\n\n{other}", CODE) is None
