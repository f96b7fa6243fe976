"""The benchmark of the search leaves out no class that can run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpora.classes import BareClass, unresolved
from benchmarks.corpora.impossible import cannot_run

HEAD = """
import sys
import torch
import torch.nn.functional as F
from torchvision.transforms import functional as F
import torch.nn.functional as G
from _paritybench_helpers import _mock_config
_module = sys.modules[__name__]
blocks = _module
del sys
words = ""
settings = args = _mock_config()
rates = {}
others = {}

def endless(x):
    x = endless(x)
    return x

def halves(x):
    yield endless(x)

def helper(x, scale):
    return x * scale

def fill():
    rates['dropout'] = 0.1

class Old(torch.autograd.Function):
    def __init__(self, scale):
        self.scale = scale

    def forward(self, x):
        return x

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()

class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block(3, 4)

"""


def net(made: str, run: str) -> str:
    lines = "".join(f"        {line}\n" for line in made.splitlines())
    forward = "".join(f"        {line}\n" for line in run.splitlines())
    constructor = f"    def __init__(self, flag):\n{lines}"
    later = "\n    def later(self):\n        raise NotImplementedError\n"
    return f"{HEAD}class Net(torch.nn.Module):\n{constructor}{later}\n    def forward(self, x):\n{forward}"


@pytest.mark.parametrize(
    ("made", "run", "why"),
    [
        pytest.param("pass", "'''Words.'''\nraise NotImplementedError", "NotImplementedError", id="abstract"),
        pytest.param("self.a = Block(3, 4)", "return x", "Block", id="too many arguments"),
        pytest.param("self.a = [Block()]", "return x", "Block", id="too few"),
        pytest.param("self.a = Block(width=3, depth=4)", "return x", "Block", id="one of another name"),
        pytest.param("self.a = Inner()", "return x", "Block", id="in what it makes"),
        pytest.param("pass", "with torch.no_grad():\n    return helper(x)", "helper", id="a function"),
        pytest.param("pass", "return blocks.gather(x)", "gather", id="a name of another module"),
        pytest.param("pass", "x = x + 1\nraise RuntimeError('no')", "raises", id="what is always raised"),
        pytest.param("self.later()", "return x", "raises", id="a method that a subclass has to define"),
        pytest.param("pass", "return endless(x)", "itself", id="a function that calls itself"),
        pytest.param("self.add_module('norm.1', Block(3))", "return x", "norm.1", id="a module with a dot in its name"),
        pytest.param("pass", "return self.nowhere(x)", "nowhere", id="an attribute that nothing sets"),
        pytest.param("pass", "return x * args.breadth", "breadth", id="an empty configuration"),
        pytest.param("pass", "return x * settings.breadth", "breadth", id="an empty configuration of several names"),
        pytest.param("if words.parse(flag):\n    pass", "return x", "parse", id="the condition of a branch"),
        pytest.param(
            "pass", "return F.conv2d(x, x)", "conv2d", id="a name that torchvision's module of that name has not"
        ),
        pytest.param("self.a = rates['dropout']", "return x", "dropout", id="a key of an empty dict"),
        pytest.param("pass", "return Old(2)(x)", "Old", id="an instance of a function of autograd"),
        pytest.param("for _ in helper.all():\n    pass", "return x", "all", id="an attribute of a function"),
    ],
)
def test_what_fails_whatever_is_given_cannot_run(made: str, run: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(net(made, run))
    assert why in (cannot_run(str(file), "Net") or "")


@pytest.mark.parametrize(("made", "can"), [("Block()", False), ("Block(3)", True)])
def test_what_methods_do_counts_where_they_are_called_in_any_case(made: str, can: bool, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    methods = f"    def make(self):\n        self.a = {made}\n    def never(self):\n        Inner()\n"
    file.write_text(f"{net('self.make()', 'return x')}\n{methods}")
    assert (cannot_run(str(file), "Net") is None) == can


def test_what_a_star_binds_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text("from blocks import *\n" + net("pass", "return blocks.gather(x)"))
    assert cannot_run(str(file), "Net") is None


@pytest.mark.parametrize(
    ("made", "run"),
    [
        pytest.param("self.a = Block(3)", "return helper(x, scale=2)", id="what fits"),
        pytest.param("self.a = Block(*flag)", "return helper(**x)", id="what may fit"),
        pytest.param("if flag:\n    self.a = Block()", "return Block() if x is None else x", id="in a branch"),
        pytest.param("self.a = [Block() for _ in flag]", "for each in x:\n    helper()", id="in a loop"),
        pytest.param("self.a = lambda: Block()", "return x is None and helper()", id="what may never be called"),
        pytest.param("try:\n    Block()\nexcept TypeError:\n    pass", "return x", id="what may be caught"),
        pytest.param("pass", "if x is None:\n    return 1\nhelper()", id="behind what may return"),
        pytest.param("Block = flag\nself.a = Block()", "return x", id="a name of its own"),
        pytest.param("pass", "return blocks.helper(x, 2) + blocks.__name__", id="names that are there"),
        pytest.param("pass", "if x is None:\n    raise NotImplementedError\nreturn x", id="what is not always raised"),
        pytest.param("self.found = 1", "return x * self.found", id="an attribute that is set"),
        pytest.param("setattr(self, flag, 1)", "return x * self.nowhere", id="an attribute that may be set"),
        pytest.param("pass", "return x if x is None else self.nowhere", id="an attribute that may not be read"),
        pytest.param("pass", "return halves(x)", id="a generator, which has not run yet"),
        pytest.param("self.later = flag\nself.later()", "return x", id="what stands before a method"),
        pytest.param("args.breadth = flag", "return x * args.breadth", id="what a configuration is given"),
        pytest.param("pass", "return F.crop(G.conv2d(x, x), 1, 1, 1, 1)", id="a name that torchvision has"),
        pytest.param("pass", "return x * args.get('width', 2)", id="a method of dicts"),
        pytest.param("args = flag", "return words.strip()", id="a method of strings"),
        pytest.param("pass", "return x if words is None else helper.__name__", id="what functions have"),
        pytest.param("fill()\nself.a = rates['dropout']", "return x", id="a dict that it fills"),
        pytest.param("others.update(flag)\nself.a = others['dropout']", "return x", id="a dict that it adds to"),
        pytest.param("self.a = rates.get('dropout')", "return x", id="a key that may be absent"),
        pytest.param("pass", "return Old.apply(x)", id="a function of autograd that is applied"),
    ],
)
def test_what_may_run_counts(made: str, run: str, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(net(made, run))
    assert cannot_run(str(file), "Net") is None


@pytest.mark.parametrize(
    ("bases", "members", "can"),
    [
        pytest.param("Open", "", False, id="left open"),
        pytest.param("Open", "    def size(self):\n        return 2\n", True, id="defined"),
        pytest.param("Sized, Open", "", True, id="defined by another base"),
        pytest.param("Loose", "", True, id="of a class that may be made all the same"),
        pytest.param("Open, Unknown", "", True, id="with a base that is not known"),
    ],
)
def test_what_is_abstract_cannot_be_made(bases: str, members: str, can: bool, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    abstract = "    @abc.abstractmethod\n    def size(self):\n        pass\n"
    file.write_text(
        "import abc\nimport torch\nfrom elsewhere import Unknown\n"
        f"class Open(torch.nn.Module, metaclass=abc.ABCMeta):\n{abstract}"
        f"class Loose(torch.nn.Module):\n{abstract}"
        "class Sized:\n    def size(self):\n        return 2\n"
        f"class Net({bases}):\n{members}    def forward(self, x):\n        return x\n"
    )
    assert (cannot_run(str(file), "Net") is None) == can


@pytest.mark.parametrize(("passed", "can"), [("3, 4", False), ("3", True), ("*sizes", True)])
def test_what_is_passed_on_to_a_base_has_to_fit(passed: str, can: bool, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    net = f"class Net(Block):\n    def __init__(self, *sizes):\n        super().__init__({passed})\n"
    file.write_text(f"{HEAD}{net}    def forward(self, x):\n        return x\n")
    assert (cannot_run(str(file), "Net") is None) == can


def test_a_further_base_may_define_what_the_first_leaves_open(tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(
        "import torch\n"
        "class Open(torch.nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n"
        "class First(Open):\n    pass\n"
        "class Second(Open):\n    def forward(self, x):\n        return x\n"
        "class Net(First, Second):\n    pass\n"
    )
    assert cannot_run(str(file), "Net") is None
    assert cannot_run(str(file), "First") is not None


@pytest.mark.parametrize(
    ("made", "run", "can"),
    [
        pytest.param("pass", "return x * self.sampled", False, id="a method that nobody calls"),
        pytest.param("self.sample()", "return x * self.sampled", True, id="one that the constructor calls"),
        pytest.param("pass", "return x * self.sampled if self.sample() else x", True, id="one that forward calls"),
        pytest.param("flag(self)", "return x * self.sampled", True, id="one that others may call"),
        pytest.param("self.apply(flag)", "return x * self.sampled", True, id="one that is handed each module"),
        pytest.param("self.by_name = flag", "return x * self.by_property", True, id="a property"),
        pytest.param("pass", "return x * self.of_class", True, id="an attribute of the class"),
        pytest.param("pass", "return x * self.given", True, id="what the class is given later"),
        pytest.param("pass", "return x * self.of_others", False, id="an attribute of another class"),
    ],
)
def test_an_attribute_counts_that_something_sets_before_it_is_read(
    made: str, run: str, can: bool, tmp_path: Path
) -> None:
    file = tmp_path / "nets.py"
    members = (
        "    of_class = 2\n"
        "    def sample(self):\n        self.sampled = 2\n"
        "    @property\n    def by_property(self):\n        return 2\n"
    )
    other = "class Other(torch.nn.Module):\n    def __init__(self):\n        self.of_others = 2\n"
    file.write_text(f"{net(made, run)}\n{members}\nNet.given = 2\n{other}")
    assert (cannot_run(str(file), "Net") is None) == can


IMPORTS = """
import sys
import numpy as np
import torch.nn as nn
from torch import nn as layers
from torch.nn import Nowhere
import torch.nowhere
try:
    from torch.nn import Newer
except ImportError:
    Newer = None
_module = sys.modules[__name__]
blocks = _module
del sys

def lacking():
    return missing

def helper():
    return lacking()

def complete():
    return 1

"""


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        pytest.param("missing", "missing", id="a name"),
        pytest.param("helper()", "missing", id="a name of what a helper calls"),
        pytest.param("np.cumproduct(x)", "np.cumproduct", id="what NumPy has dropped"),
        pytest.param("nn.functional.nowhere(x)", "nn.functional.nowhere", id="what a module of a module has not"),
        pytest.param("layers.Nowhere()", "layers.Nowhere", id="what a module has not that is imported from another"),
        pytest.param("Nowhere()", "Nowhere", id="an import of a name that is not there"),
        pytest.param("torch.nn", "torch.nn", id="an import of a module that is not there"),
        pytest.param("blocks.Nowhere()", "Nowhere", id="a name of a module of the project"),
        pytest.param("blocks.helper()", "missing", id="what a name of a module of the project needs"),
        pytest.param("np.float(x)", None, id="what the benchmark gives back"),
        pytest.param("np.random.rand(2) + nn.Linear(2, 2).weight", None, id="names that are there"),
        pytest.param("blocks.complete() + blocks._module.complete()", None, id="names of the project that are there"),
        pytest.param("blocks.__name__", None, id="what every module has"),
        pytest.param("(lambda np: np.cumproduct)(x)", None, id="an attribute of something else of that name"),
        pytest.param("Newer.thing", None, id="what is imported under a condition"),
    ],
)
def test_names_that_are_not_there_are_told(expression: str, missing: str | None, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(f"{IMPORTS}class Net(nn.Module):\n    def forward(self, x):\n        return {expression}\n")
    assert unresolved(BareClass(str(file), "Net", False)) == missing
