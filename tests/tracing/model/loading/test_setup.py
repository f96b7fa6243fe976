"""Calls at top level that set something up run before the model is built; training does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

class Blk(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        return self.l(x)

"""

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = {made}

    def forward(self, x):
        return self.b(x)
"""

FORWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        return {result}
"""

OWN = {
    "a function that stores into a dictionary": (
        "REG = {}\ndef register(name, cls):\n    REG[name] = cls\nregister('blk', Blk)\n",
        NET.format(made="REG['blk']()"),
    ),
    "a function that stores into its argument": (
        "REG = {}\ndef put(where, name, cls):\n    where[name] = cls\nput(REG, 'blk', Blk)\n",
        NET.format(made="REG['blk']()"),
    ),
    "a function that returns a decorator": (
        (
            "REG = {}\ndef register(name):\n    def deco(cls):\n        REG[name] = cls\n        return cls\n"
            "    return deco\n"
            "register('blk')(Blk)\n"
        ),
        NET.format(made="REG['blk']()"),
    ),
    "a function without arguments that calls a method": (
        (
            "class Registry:\n    def __init__(self):\n        self.map = {}\n    def add(self, name, cls):\n"
            "        self.map[name] = cls\nBLOCKS = Registry()\ndef _setup():\n    BLOCKS.add('blk', Blk)\n_setup()\n"
        ),
        NET.format(made="BLOCKS.map['blk']()"),
    ),
    "a function that calls another": (
        "REG = {}\ndef _put(name, cls):\n    REG[name] = cls\ndef _setup():\n    _put('blk', Blk)\n_setup()\n",
        NET.format(made="REG['blk']()"),
    ),
    "a global variable": (
        "made = None\ndef init():\n    global made\n    made = Blk\ninit()\n",
        NET.format(made="made()"),
    ),
    "a list that grows": (
        "LAYERS = []\ndef also(cls):\n    LAYERS.append(cls)\nalso(Blk)\n",
        NET.format(made="LAYERS[0]()"),
    ),
    "a comprehension of calls": (
        "REG = {}\ndef register(name, cls):\n    REG[name] = cls\n[register(n, c) for n, c in [('blk', Blk)]]\n",
        NET.format(made="REG['blk']()"),
    ),
    "a loop of calls": (
        "REG = {}\ndef register(name, cls):\n    REG[name] = cls\nfor c in (Blk,):\n    register(c.__name__, c)\n",
        NET.format(made="REG['Blk']()"),
    ),
    "a call in a branch": (
        "REG = {}\ndef register(name, cls):\n    REG[name] = cls\nif torch.__version__:\n    register('blk', Blk)\n",
        NET.format(made="REG['blk']()"),
    ),
    "a method of a class of torch": (
        "def setup():\n    nn.Linear.twice = lambda self, x: self(x) * 2\nsetup()\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "setattr on a module of torch": (
        "def setup(name):\n    setattr(F, name, lambda x: x * x.sigmoid())\nsetup('swish2')\n",
        FORWARD.format(result="F.swish2(self.l(x))"),
    ),
    "setattr at top level": (
        "setattr(F, 'swish2', lambda x: x * x.sigmoid())\n",
        FORWARD.format(result="F.swish2(self.l(x))"),
    ),
    "an import inside the function": (
        "def setup():\n    from torch import nn\n    nn.Linear.twice = lambda self, x: self(x) * 2\nsetup()\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "a loop over classes of torch": (
        (
            "def setup():\n    for cls in (nn.Linear, nn.Conv2d):\n"
            "        cls.twice = lambda self, x: self(x) * 2\nsetup()\n"
        ),
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "a class of torch as the argument": (
        "def patch(cls):\n    cls.twice = lambda self, x: self(x) * 2\npatch(nn.Linear)\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "a method of a class of the file": (
        "def patch(cls):\n    cls.twice = lambda self, x: self(x) * 2\npatch(Blk)\n",
        (
            "class Net(Blk):\n    def forward(self, x):\n"
            "        return self.l(x) + 1 if not hasattr(self, 'twice') else self.l(x)\n"
        ),
    ),
    "a class whose constructor patches": (
        "class Patcher:\n    def __init__(self):\n        nn.Linear.twice = lambda self, x: self(x) * 2\nPatcher()\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "a base that needs the patch while it is defined": (
        "def setup():\n    F.swish2 = lambda x: x * x.sigmoid()\nsetup()\nclass Base(nn.Module):\n    act = F.swish2\n",
        "class Net(Base):\n    def forward(self, x):\n        return F.swish2(x)\n",
    ),
    "an effect that only running shows": (
        "REG = {}\ndef _put(name, cls):\n    globals()['REG'].__setitem__(name, cls)\n_put('blk', Blk)\n",
        NET.format(made="REG['blk']()"),
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_calls_that_set_up_what_the_model_needs_run(name: str, worker: Any, write: Callable[..., str]) -> None:
    setup, net = OWN[name]
    report = worker.report(f"{write(HEAD + setup + net)}:Net", "Net()", "torch.randn(2, 4)")
    assert report.complete
    assert report.verdict.traceable, report.verdict
    assert not [problem for problem in report.problems if problem.severity != "info"]


OTHERS = {
    "a registration by an imported function": (
        "REG = {}\ndef register(name, cls):\n    REG[name] = cls\ndef build(name):\n    return REG[name]()\n",
        "from helper import build, register\n",
        "register('blk', Blk)\n" + NET.format(made="build('blk')"),
    ),
    "a registration by a method of an imported object": (
        (
            "class Registry:\n    def __init__(self):\n        self.map = {}\n    def add(self, name, cls):\n"
            "        self.map[name] = cls\nBLOCKS = Registry()\ndef build(name):\n    return BLOCKS.map[name]()\n"
        ),
        "from helper import BLOCKS, build\n",
        "BLOCKS.add('blk', Blk)\n" + NET.format(made="build('blk')"),
    ),
    "an update of an imported dictionary": (
        "REG = {}\ndef build(name):\n    return REG[name]()\n",
        "from helper import REG, build\n",
        "REG.update(blk=Blk)\n" + NET.format(made="build('blk')"),
    ),
    "a store into an imported module": (
        "REG = {}\ndef build(name):\n    return REG[name]()\n",
        "import helper\nfrom helper import build\n",
        "helper.REG['blk'] = Blk\n" + NET.format(made="build('blk')"),
    ),
    "a patch by an imported function": (
        "import torch\ndef patch():\n    torch.functional.swish2 = lambda x: x * x.sigmoid()\n",
        "from helper import patch\n",
        "patch()\n" + FORWARD.format(result="torch.functional.swish2(self.l(x))"),
    ),
    "a patch by a function of an imported module": (
        "import torch\ndef patch():\n    torch.functional.swish2 = lambda x: x * x.sigmoid()\n",
        "import helper\n",
        "helper.patch()\n" + FORWARD.format(result="torch.functional.swish2(self.l(x))"),
    ),
    "a patch while a module is imported": (
        "from torch import nn\ndef twice(self, x):\n    return self(x) * 2\nnn.Linear.twice = twice\n",
        "import helper\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "a call while a module is imported": (
        "from torch import nn\ndef patch():\n    nn.Linear.twice = lambda self, x: self(x) * 2\npatch()\n",
        "import helper\n",
        FORWARD.format(result="self.l.twice(x)"),
    ),
    "registrations of a module that is imported for them": (
        (
            "from registry import register\nfrom torch import nn\nclass Scaled(nn.Module):\n"
            "    def forward(self, x):\n        return x * 2\nregister('blk', Scaled)\n"
        ),
        "import helper\nfrom registry import build\n",
        NET.format(made="build('blk')"),
    ),
}

REGISTRY = "REG = {}\ndef register(name, cls):\n    REG[name] = cls\ndef build(name):\n    return REG[name]()\n"


@pytest.mark.parametrize("name", OTHERS)
def test_calls_of_other_files_that_set_up_what_the_model_needs_run(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    helper, imports, text = OTHERS[name]
    write(REGISTRY, "registry.py")
    write(helper, "helper.py")
    report = worker.report(f"{write(imports + HEAD + text)}:Net", "Net()", "torch.randn(2, 4)")
    assert report.complete
    assert report.verdict.traceable, report.verdict
    assert not [problem for problem in report.problems if problem.severity != "info"]


TRAINS = {
    "a training function": (
        (
            "history = []\ndef train():\n    history.append(1)\n    ran()\n"
            "    net(torch.randn(2, 4)).sum().backward()\ntrain()\n"
        ),
        "",
    ),
    "a function that calls one": (
        (
            "history = []\ndef step():\n    ran()\n    net(torch.randn(2, 4)).sum().backward()\n"
            "def main():\n    global history\n    history = step()\nmain()\n"
        ),
        "",
    ),
    "an imported one": ("from helper import train\ntrain(Net)\n", ""),
    "a print": ("def show(x):\n    ran()\n    print(x)\nshow(Net)\n", ""),
    "a failing registration": (
        (
            "def build(name):\n    return {}[name]()\ndef main():\n    ran()\n"
            "    net(torch.ones(2, 4)).backward()\nmain()\n"
        ),
        "build('no')",
    ),
}


@pytest.mark.parametrize("name", TRAINS)
def test_what_trains_or_shows_does_not_run(name: str, worker: Any, write: Callable[..., str], tmp_path: Path) -> None:
    text, made = TRAINS[name]
    # A store that is not seen as one: what stores into torch sets something up, and runs.
    mark = "import os, sys\ndef ran():\n    return sys.modules['torch'].__dict__.__setitem__('ran', True)\n"
    write(mark + "STATE = {}\ndef train(cls):\n    STATE['n'] = 1\n    ran()\n    cls()(1).backward()\n", "helper.py")
    net = FORWARD.format(result="torch.cat([self.l(x)] * (2 if hasattr(torch, 'ran') else 1))")
    if made:
        net = net.replace("nn.Linear(4, 4)", made)
    path = write(HEAD + mark + net + "net = None\n" + text)
    try:
        report = worker.report(f"{path}:Net", "Net()", "torch.randn(2, 4)")
    except AssertionError:
        assert made
        return
    assert [node.name for node in report.nodes] == ["x", "l", "cat", "output"]
    assert (report.nodes[2].output or {})["shape"] == [2, 4]
