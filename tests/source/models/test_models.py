"""Which classes, functions and names of a file are models."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.source.models.forward_defs import ForwardDef
from fxlsp.source.models.models import ModelClass, factories, instances, model_classes
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


def document_of(text: str) -> Document:
    return Document("untitled:a", "/untitled/a.py", 1, text)


def models(text: str) -> dict[str, ModelClass]:
    found = model_classes(document_of(text))
    assert len({each.qualname for each in found}) == len(found)
    return {each.qualname: each for each in found}


FORWARD = "    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize(
    ("imports", "base"),
    [
        ("import torch.nn as nn", "nn.Module"),
        ("import torch.nn as N", "N.Module"),
        ("from torch import nn", "nn.Module"),
        ("from torch import nn as layers, optim", "layers.Module"),
        ("import torch", "torch.nn.Module"),
        ("import torch as t", "t.nn.Module"),
        ("import torch.nn", "torch.nn.Module"),
        ("import torch.nn.functional as F, torch.nn", "torch.nn.Module"),
        ("from torch.nn import Module", "Module"),
        ("from torch.nn import (\n    Linear,\n    Module as M,\n)", "M"),
        ("from torch.nn import *", "Module"),
        ("from torch import *", "nn.Module"),
        ("from torch.nn.modules import Module", "Module"),
        ("from torch.nn.modules.module import Module", "Module"),
        ("import torch.nn as nn\nBase = nn.Module", "Base"),
        ("from torch import nn\nModule = nn.Module\nBase = Module", "Base"),
        ("try:\n    from torch import nn\nexcept ImportError:\n    nn = None", "nn.Module"),
        ("if True:\n    import torch.nn as nn", "nn.Module"),
        ("", "nn.Module"),
        ("", "torch.nn.Module"),
        ("import torch.nn as nn", "nn.Sequential"),
        ("import torch.nn as nn", "nn.Conv2d"),
        ("import torch.nn as nn", "nn.modules.batchnorm._BatchNorm, nn.Module"),
        ("import torch.ao.nn.quantized as nnq", "nnq.Linear"),
        ("import torch", "torch.jit.ScriptModule"),
        ("import torch", "torch.fx.GraphModule"),
        ("import torch.nn as nn", "Mixin, nn.Module"),
        ("import torch.nn as nn", "nn.Module, Generic[T]"),
        ("import torch.nn as nn", "nn.Module, metaclass=Meta"),
        ("import torch.nn as nn", "nn.ModuleList"),
        ("from lightning import LightningModule", "LightningModule"),
        ("import pytorch_lightning as pl", "pl.LightningModule"),
        ("import lightning.pytorch as L", "L.LightningModule"),
        ("from transformers import PreTrainedModel", "PreTrainedModel"),
        ("from transformers.models.bert.modeling_bert import BertPreTrainedModel", "BertPreTrainedModel"),
        ("from ...modeling_utils import PreTrainedModel", "PreTrainedModel"),
    ],
)
def test_a_subclass_of_a_torch_module_is_a_model_however_it_is_imported(imports: str, base: str) -> None:
    found = models(f"{imports}\n\nclass Net({base}):\n    pass\n")
    assert list(found) == ["Net"]
    assert found["Net"].forward is None


@pytest.mark.parametrize(
    ("imports", "header"),
    [
        ("", "class Net"),
        ("", "class Net()"),
        ("", "class Net(object)"),
        ("", "class Net(Exception)"),
        ("from abc import ABC", "class Net(ABC)"),
        ("import abc", "class Net(abc.ABC, metaclass=abc.ABCMeta)"),
        ("from typing import Protocol", "class Net(Protocol)"),
        ("import torch", "class Net(torch.autograd.Function)"),
        ("from torch.autograd import Function", "class Net(Function)"),
        ("from torch.utils.data import Dataset", "class Net(Dataset)"),
        ("import torch.nn as nn", "class Net(nn.Parameter)"),
        ("import torch.nn as nn", "class Net(nn.utils.rnn.PackedSequence)"),
        ("import unittest", "class Net(unittest.TestCase)"),
        ("from torchvision.models import WeightsEnum", "class Net(WeightsEnum)"),
        ("from torchvision.models._api import WeightsEnum", "class Net(WeightsEnum)"),
    ],
)
def test_a_class_that_is_known_to_be_something_else_is_no_model(imports: str, header: str) -> None:
    assert models(f"{imports}\n{header}:\n{FORWARD}") == {}


@pytest.mark.parametrize(
    ("base", "forward", "is_model"),
    [
        ("Elsewhere", "def forward(self, x): pass", True),
        ("package.Elsewhere", "def forward(self, x): pass", True),
        ("make_base()", "def forward(self, x): pass", True),
        ("Elsewhere", "async def forward(self, x): pass", True),
        ("Elsewhere", "@torch.no_grad()\n    def forward(self, x): pass", True),
        ("Elsewhere", "def backward(self, x): pass", False),
        ("Elsewhere", "@staticmethod\n    def forward(ctx, x): pass", False),
        ("Elsewhere", "@classmethod\n    def forward(cls, x): pass", False),
    ],
)
def test_a_class_of_unknown_ancestry_is_a_model_if_it_has_a_forward_method(
    base: str, forward: str, is_model: bool
) -> None:
    assert ("Net" in models(f"from .other import Elsewhere\nclass Net({base}):\n    {forward}\n")) is is_model


def test_subclasses_of_a_model_are_models_in_whatever_order_and_depth() -> None:
    text = "class C(B): pass\nclass B(A): pass\nclass A(nn.Module): pass\nclass D(E): pass\nclass E(D): pass\n"
    assert list(models(text)) == ["C", "B", "A"]


def test_a_class_below_one_of_unknown_ancestry_is_a_model_if_it_has_a_forward() -> None:
    text = f"from .x import Y\nclass A(Y): pass\nclass B(A):\n{FORWARD}\nclass C(B): pass\nclass D(A): pass\n"
    assert list(models(text)) == ["B", "C"]


def test_nested_and_local_classes_are_named_as_python_names_them() -> None:
    text = """\
class Outer(nn.Module):
    class Inner(nn.Module):
        class Core(nn.Linear):
            pass
    class Next(Inner):
        pass

def make():
    class Net(Outer.Inner):
        pass
    def deeper():
        class Other(Net):
            pass

class Plain:
    class Held(Outer):
        pass
    def method(self):
        class Local(nn.Module):
            pass
"""
    assert {name: each.local for name, each in models(text).items()} == {
        "Outer": False,
        "Outer.Inner": False,
        "Outer.Inner.Core": False,
        "Outer.Next": False,
        "make.<locals>.Net": True,
        "make.<locals>.deeper.<locals>.Other": True,
        "Plain.Held": False,
        "Plain.method.<locals>.Local": True,
    }


def test_a_class_and_an_import_of_one_name_are_distinguished() -> None:
    assert list(models("from torch.nn import Linear\nclass Linear(Linear):\n    pass\n")) == ["Linear"]


def test_a_class_defined_in_two_branches_is_found_twice() -> None:
    text = "if x:\n    class A(nn.Module): pass\nelse:\n    class A(nn.Linear): pass\n"
    assert [each.qualname for each in model_classes(document_of(text))] == ["A", "A"]


def test_spans_are_of_the_name_and_of_the_statement_with_its_decorators() -> None:
    text = """\
# ä
@register('é𝒳')
class Nét(nn.Module):
    @torch.no_grad()
    def forward(self, x):
        return '𝒳'
"""
    net = models(text)["Nét"]
    assert net.name == Span(3, 7, 3, 10)
    assert net.extent == Span(2, 1, 6, 19)
    assert net.forward == ForwardDef(Span(5, 9, 5, 16), Span(4, 5, 6, 19), ("x",))


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("self", ()),
        ("self, x", ("x",)),
        ("self, x: Tensor, mask: Tensor | None = None, y=2", ("x", "mask", "y")),
        ("self, *xs, flag, **options", ("*xs", "flag", "**options")),
        ("self, *xs: Tensor, **options: int", ("*xs", "**options")),
        ("self, x, /, y, *, z", ("x", "y", "z")),
        ("self, # me\n        x, # you\n    ", ("x",)),
    ],
)
def test_parameters_of_forward_are_named_without_self(parameters: str, names: tuple[str, ...]) -> None:
    forward = models(f"class Net(nn.Module):\n    def forward({parameters}):\n        pass\n")["Net"].forward
    assert forward is not None
    assert forward.parameters == names


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("def forward(self): pass", 2),
        ("if x:\n        def forward(self): pass\n    else:\n        def forward(self): pass", 5),
        ("@overload\n    def forward(self): ...\n    def forward(self): pass", 4),
        ("forward = _forward", 2),
        ("forward: Callable = partialmethod(_f)", 2),
        ("def other(self):\n        def forward(self): pass", None),
        ("class Other:\n        def forward(self): pass", None),
        ("x.forward = 1", None),
        ("", None),
    ],
)
def test_a_forward_is_the_last_one_that_the_class_body_binds(body: str, line: int | None) -> None:
    forward = models(f"class Net(nn.Module):\n    {body}\n    x = 1\n")["Net"].forward
    assert (None if forward is None else forward.name.line) == line


def test_a_model_constructs_what_its_body_calls_or_hands_on() -> None:
    text = """\
class A(nn.Module): pass
class B(nn.Module): pass
class C(nn.Module): pass
class D(nn.Module): pass
class E(nn.Module): pass
class F(nn.Module): pass
class Plain: pass
class Net(A):
    class Own(nn.Module): pass
    block: E = None

    def __init__(self, kind=F):
        self.a = nn.Sequential(B(1), Plain())
        self.c = self._make(C, 3)
        self.d = nn.ModuleList([D() for _ in range(3)])
        self.own = Net.Own()

    def copy(self) -> E:
        return Net()
"""
    found = models(text)
    assert found["Net"].constructs == {"B", "C", "D", "F", "Net.Own"}
    assert found["A"].constructs == frozenset()
    assert found["Net"].bases == ("A",)


def test_bases_are_dotted_names_where_they_are_names() -> None:
    assert models("class Net(nn.Module, Generic[T], make(), metaclass=M):\n    pass\n")["Net"].bases == (
        "nn.Module",
        "Generic",
        "",
    )


def test_instances_are_top_level_names_of_modules() -> None:
    text = """\
import torch.nn as nn
class Net(nn.Module): pass
a = Net(1)
b: nn.Module = nn.Sequential(nn.Linear(1, 2))
c = Net(2).eval().cuda()
d = e = Net(3)
f = other()
g = nn.CrossEntropyLoss()
h = nn.Parameter(x)
i = load()  # fxlsp: i(torch.randn(1))
x.j = Net(4)
k, l = Net(5), Net(6)
m = [Net(7)]
def f():
    n = Net(8)
if __name__ == "__main__":
    o = Net(9)
"""
    document = document_of(text)
    assert [each.name for each in instances(document)] == ["a", "b", "c", "d", "i"]
    assert instances(document)[0].name_span == Span(3, 1, 3, 2)
    assert instances(document)[0].extent == Span(3, 1, 3, 11)


def test_factories_are_top_level_functions_with_a_recipe() -> None:
    text = """\
@cache
# fxlsp: a()
def a(): pass
def b(): pass  # fxlsp: b()
def c(): pass
def d():
    # fxlsp: d()
    pass
def e(
    x=1,
):  # fxlsp: e()
    pass
class X:
    def f(self): pass  # fxlsp: f()
"""
    document = document_of(text)
    assert [each.name for each in factories(document)] == ["a", "b", "e"]
    assert factories(document)[0].extent == Span(1, 1, 3, 14)
    assert factories(document)[0].name_span == Span(3, 5, 3, 6)


def test_models_are_found_in_a_text_with_errors() -> None:
    text = "class Net(nn.Module):\n    def forward(self, x):\n        return x +\n\nclass Two(nn.Module):\n"
    assert "Net" in models(text)


PIECES = st.sampled_from(
    [
        "class ",
        "A",
        "B",
        "(nn.Module)",
        "(A)",
        ":",
        "\n    ",
        "\n",
        "def forward",
        "(self, x)",
        "# fxlsp: A(1)",
        "@",
        "=",
        "import ",
        "from ",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_breaks_the_search(text: str) -> None:
    document = document_of(text)
    for each in model_classes(document):
        assert document.lines.slice(each.name) in each.qualname
    assert len(factories(document)) + len(instances(document)) >= 0


def test_deeply_nested_text_is_read_without_recursion() -> None:
    text = (
        "class Net(nn.Module):\n    x = " + "(" * 20_000 + "A()" + ")" * 20_000 + "\n    y = z" + ".a()" * 20_000 + "\n"
    )
    assert list(models(text)) == ["Net"]


@pytest.mark.parametrize("base", ["ModuleList", "ModuleDict", "ParameterList", "ParameterDict"])
def test_a_container_without_forward_is_no_model_that_runs(base: str) -> None:
    found = models(
        f"from torch import nn\nfrom torch.nn import {base}\n"
        f"class Bare(nn.{base}): pass\n"
        f"class Imported({base}): pass\n"
        f"class Own(nn.{base}):\n{FORWARD}"
        f"class Mixed(nn.{base}, Mixin): pass\n"
        "class Layers(nn.Sequential): pass\n"
        f"class Bound(nn.{base}):\n    forward = encode\n"
        "class Heir(Bare): pass\n"
    )
    assert {name: each.runs for name, each in found.items()} == {
        "Bare": False, "Imported": False, "Own": True, "Mixed": True, "Layers": True, "Bound": True, "Heir": True,
    }  # fmt: skip
