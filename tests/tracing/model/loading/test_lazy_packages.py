"""Packages that import their submodules only when a name of theirs is read are loaded as Python loads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LAZY = """
import importlib
import os
from types import ModuleType

class Lazy(ModuleType):
    def __init__(self, name, file, names, spec):
        super().__init__(name)
        self.__file__, self.__spec__, self.__path__ = file, spec, [os.path.dirname(file)]
        self.__all__ = [name for names in names.values() for name in names]
        self._places = {name: place for place, names in names.items() for name in names}

    def __getattr__(self, name):
        if name in self._places:
            return getattr(importlib.import_module("." + self._places[name], self.__name__), name)
        raise AttributeError(f"module {self.__name__} has no attribute {name}")

def attach(package, names):
    places = {name: place for place, names in names.items() for name in names}

    def find(name):
        if name in places:
            return getattr(importlib.import_module("." + places[name], package), name)
        raise AttributeError(name)

    return find, lambda: sorted(places), list(places)
"""
NAMES = "from lazy import Lazy, attach\nnames = {}\nnames['sizes'] = ['WIDTH']\n"
REPLACED = "sys.modules[__name__] = Lazy(__name__, globals()['__file__'], names, __spec__)\n"
NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.lin(x)
"""
METHOD = "sys.modules.update({__name__: Lazy(__name__, globals()['__file__'], names, __spec__)})\n"
BRANCH = "TYPING = False\nif TYPING:\n    from .sizes import WIDTH\nelse:\n    import sys\n\n    "
FORMS = {
    "a module in its place": "import sys\n" + REPLACED,
    "a module in its place, in a branch": BRANCH + REPLACED,
    "a module in its place, by a method": BRANCH + METHOD,
    "a function": "__all__ = ['WIDTH']\n\ndef __getattr__(name):\n    return attach(__name__, names)[0](name)\n",
    "an assigned function": "__getattr__, __dir__, __all__ = attach(__name__, names)\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "imported", ["from pack import WIDTH", "import pack\nWIDTH = pack.WIDTH", "from pack import *"]
)
def test_a_name_of_a_lazy_package_is_there(form: str, imported: str, worker: Any, write: Callable[..., str]) -> None:
    write(LAZY, "lazy.py")
    write(NAMES + FORMS[form], "pack/__init__.py")
    write("WIDTH = 4\n", "pack/sizes.py")
    path = write(imported + NET)
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").nodes[-1].output["shape"] == [1, 2]


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_a_lazy_package_finds_its_names(form: str, worker: Any, write: Callable[..., str]) -> None:
    write(LAZY, "lazy.py")
    write(NAMES + FORMS[form], "pack/__init__.py")
    write("WIDTH = 4\n", "pack/sizes.py")
    path = write("from . import WIDTH\n" + NET, "pack/net.py")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").nodes[-1].output["shape"] == [1, 2]


def test_a_name_that_a_lazy_package_does_not_have_is_an_error(worker: Any, write: Callable[..., str]) -> None:
    write(LAZY, "lazy.py")
    write(NAMES + FORMS["an assigned function"], "pack/__init__.py")
    write("WIDTH = 4\n", "pack/sizes.py")
    path = write("from pack import HEIGHT\n" + NET.replace("WIDTH", "HEIGHT"))
    failure = worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)")["failure"]["failure"]
    assert "cannot import name 'HEIGHT'" in failure["message"]
