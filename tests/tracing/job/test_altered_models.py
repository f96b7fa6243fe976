"""A class that fails by itself is accused only if no subclass or function of its file may mend that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import HEAD

_BASE = """
class Net(nn.Module):
    sizes = 4

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        {init}

    def encode(self, x):
        {encode}

    def forward(self, x):
        x = self.fc(x)
        {forward}
"""


def _base(init: str = "pass", encode: str = "return x", forward: str = "return self.encode(x)") -> str:
    return HEAD + _BASE.format(init=init, encode=encode, forward=forward)


_PAIR = _base(encode="return None, None", forward="mu, logvar, z = self.encode(x)\n        return mu + logvar + z")
_STUB = _base(encode="pass", forward="return self.encode(x) * 2")
_NONE = _base(encode="return None", forward="return x * self.encode(x)")
_LACKING = _base(forward="return self.head(x)")
_CUT = _base(init="self.head = nn.Linear(4, 2)", forward="return self.head(x)")
_BY_CLASS = _base(init="self.head = nn.Linear(self.sizes, 2)", forward="return self.head(x)")
_BY_METHOD = _base(init="self.head = nn.Linear(self.width(), 2)", forward="return self.head(x)").replace(
    "    def forward", "    def width(self):\n        return 4\n\n    def forward"
)
_CHILD = "\nclass Child(Net):\n    def encode(self, x):\n        return {}\n"
SUBCLASSES = {
    "a tuple of another number of items": _PAIR + _CHILD.format("x, x, x"),
    "a method without a body": _STUB + _CHILD.format("x"),
    "a method that returns None": _NONE + _CHILD.format("x"),
    "a method of a mixin": _NONE + "\nclass Cut:\n    def encode(self, x):\n        return x\n"
    "\nclass Child(Cut, Net):\n    pass\n",
    "a method that the class lacks": _LACKING + "\nclass Child(Net):\n    def head(self, x):\n        return x\n",
    "a subclass of a subclass": _LACKING
    + "\nclass Other(Net):\n    pass\n\nclass Child(Other):\n    def head(self, x):\n        return x\n",
    "an attribute of the class": _BY_CLASS + "\nclass Child(Net):\n    sizes = 8\n",
    "a width": _BY_METHOD + "\nclass Child(Net):\n    def width(self):\n        return 8\n",
    "a layer": _CUT
    + "\nclass Child(Net):\n    def __init__(self):\n        super().__init__()\n        self.head = nn.Linear(8, 2)\n",
    "a step between": _base(
        init="self.head = nn.Linear(4, 2)", forward="y = self.encode(x)\n        return self.head(y)"
    )
    + _CHILD.format("x[..., :4]"),
}
NO_HELP = {
    "no subclass": _PAIR,
    "a subclass that adds something else": _PAIR + "\nclass Child(Net):\n    def decode(self, x):\n        return x\n",
    "a subclass of another class": _PAIR + "\nclass Child(Base):\n    def encode(self, x):\n        return x, x, x\n",
    "a class of the same methods": _PAIR + _CHILD.format("x, x, x").replace("(Net)", "(nn.Module)"),
    "a name that nothing binds": _base(forward="return self.encode(scale(x))") + _CHILD.format("x"),
    "a layer that the subclass leaves": _CUT + _CHILD.format("x"),
}
FUNCTIONS = {
    "a layer is replaced": "def build(n):\n    net = Net()\n    net.head = nn.Identity()\n    return net",
    "a layer is replaced after a conversion": "def build(n):\n    net = Net().to('cpu').train()\n    net.head = F",
    "a layer is deleted": "def build(n):\n    net = Net()\n    del net.head\n    net.head = abs",
    "by setattr": "def build(n):\n    net = Net()\n    setattr(net, 'head', nn.Identity())\n    return net",
    "by setattr of any name": "def build(n):\n    net = Net()\n    for each in ('head',):\n"
    "        setattr(net, each, n)",
    "by add_module": "def build(n):\n    net = Net()\n    net.add_module('head', nn.Identity())\n    return net",
    "a hook": "def build(n):\n    net = Net()\n"
    "    net.fc.register_forward_hook(lambda *_: _[2][..., :4])\n    return net",
    "a hook of a function that returns": "def cut(module, inputs, output):\n    return output[..., :4]\n\n"
    "def build(n):\n    net = Net()\n    net.fc.register_forward_hook(cut)",
    "a hook that a function makes": "def cut_to(n):\n    def cut(module, inputs, output):\n"
    "        return output[..., :n]\n    return cut\n\n"
    "def build(n):\n    net = Net()\n    net.fc.register_forward_hook(cut_to(4))",
    "a hook that is passed": "def build(hook):\n    net = Net()\n    net.fc.register_forward_hook(hook)",
    "a hook before": "def build(n):\n    net = Net()\n    net.head.register_forward_pre_hook(lambda m, i: i[0][:4])",
    "its forward": "import types\n\ndef build(n):\n    net = Net()\n"
    "    net.forward = types.MethodType(lambda s, x: x, net)",
    "a method of the class": "def build(n):\n    net = Net()\n    net.encode = abs\n    return net",
    "a function that it is passed to": "def cut(model):\n    model.head = nn.Identity()\n\n"
    "def build(n):\n    cut(Net())",
    "a function of one that another makes": "def make(n):\n    net = Net()\n    return net\n\n"
    "def build(n):\n    made = make(n)\n    made.head = nn.Identity()",
    "an annotated argument": "def build(net: Net):\n    net.head = nn.Identity()\n    return net",
    "a part of another class": "class Outer(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    "        self.net = Net()\n        self.net.head = nn.Identity()",
    "a part of an instance of another class": "class Outer(nn.Module):\n    def __init__(self, n):\n"
    "        super().__init__()\n        self.net = Net()\n\n"
    "def build(n):\n    outer = Outer(n)\n    outer.net.head = nn.Identity()",
    "an attribute of a layer": "def build(n):\n    net = Net()\n    net.fc.weight = nn.Parameter(torch.ones(4, 8))",
    "the class": "def build(n):\n    Net.forward = lambda self, x: x\n    return Net()",
}
NO_CHANGE = {
    "no function": "",
    "a function that makes it": "def build(n):\n    net = Net()\n    net.eval()\n    return net.to('cpu')",
    "an attribute that nothing reads": "def build(n):\n    net = Net()\n    net.title = 'a net'\n    return net",
    "values of its weights": "def build(n):\n    net = Net()\n    net.fc.weight.data = torch.ones(8, 8)\n"
    "    net.fc.weight.requires_grad = False",
    "another class": "class Other(nn.Module):\n    pass\n\ndef build(n):\n    net = Other()\n"
    "    net.head = abs\n    return net",
    "an object that it is a part of": "class Trainer:\n    def __init__(self, n):\n        self.net = Net()\n"
    "        self.head = 1",
    "a hook that stores": "seen = []\n\ndef save(module, inputs, output):\n    seen.append(output)\n\n"
    "def build(n):\n    net = Net()\n    net.fc.register_forward_hook(save)",
    "a hook that stores, in one line": "seen = []\n\ndef build(n):\n    net = Net()\n"
    "    net.fc.register_forward_hook(lambda m, i, o: seen.append(o))",
    "a hook that stores, made by a function": "seen = {}\n\ndef save_as(name):\n    def save(m, i, o):\n"
    "        seen[name] = o.detach()\n    return save\n\n"
    "def build(n):\n    net = Net()\n    net.fc.register_forward_hook(save_as('fc'))",
    "a hook for gradients": "def build(n):\n    net = Net()\n    net.fc.register_full_backward_hook(lambda m, i, o: o)",
    "an optimizer": "def train(n):\n    net = Net()\n"
    "    opt = torch.optim.SGD(net.parameters(), 0.1)\n    opt.head = 1",
}


def _severities(answer: Any) -> set[str]:
    assert answer["type"] == "report", answer
    return {each["severity"] for each in answer["report"]["problems"] if each["code"] in ("FX401", "FX403")}


@pytest.mark.parametrize("name", SUBCLASSES)
def test_what_a_subclass_defines_is_no_error_of_its_base(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert "error" not in _severities(worker.answer(write(SUBCLASSES[name]) + ":Net"))


@pytest.mark.parametrize("name", NO_HELP)
def test_what_no_subclass_defines_is_an_error(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert "error" in _severities(worker.answer(write(NO_HELP[name]) + ":Net"))


def test_a_base_that_a_call_site_makes_has_to_work_by_itself(worker: Any, write: Callable[..., str]) -> None:
    path = write(SUBCLASSES["a tuple of another number of items"])
    made = worker.answer(f"{path}:Net", "Net()", None, source="call-site")
    called = worker.answer(f"{path}:Net", "Net()", "torch.rand(2, 8)", source="call-site")
    assert "error" in _severities(made)
    assert "error" in _severities(called)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_that_a_function_changes_is_not_accused(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert _severities(worker.answer(f"{write(_CUT + FUNCTIONS[name])}:Net")) <= {"info"}


@pytest.mark.parametrize("name", NO_CHANGE)
def test_a_model_that_no_function_changes_is_accused(name: str, worker: Any, write: Callable[..., str]) -> None:
    assert "error" in _severities(worker.answer(f"{write(_CUT + NO_CHANGE[name])}:Net"))


def test_a_missing_name_is_an_error_unless_its_function_is_replaced(worker: Any, write: Callable[..., str]) -> None:
    text = _base(init="self.head = nn.Linear(8, 2)", forward="return self.head(scale(x))")
    assert "error" in _severities(worker.answer(f"{write(text + FUNCTIONS['a layer is replaced'])}:Net"))
    assert "error" not in _severities(worker.answer(f"{write(text + FUNCTIONS['its forward'])}:Net"))


def test_a_call_site_shows_how_a_model_is_made(worker: Any, write: Callable[..., str]) -> None:
    changed, called = FUNCTIONS["a layer is replaced"], "torch.rand(2, 8)"
    # Whichever function the call is in, the model was changed before.
    only = worker.answer(f"{write(_CUT + changed)}:Net", "Net()", called, source="call-site")
    assert "error" not in _severities(only)
    plain = f"{_CUT}{changed}\n\ndef main():\n    Net()({called})\n"
    assert "error" in _severities(worker.answer(f"{write(plain)}:Net", "Net()", called, source="call-site"))
    # What the function returns is changed already.
    wrong = _CUT + changed.replace("nn.Identity()", "nn.Linear(5, 5)")
    assert "error" in _severities(worker.answer(f"{write(wrong)}:Net", "build(1)", called, source="call-site"))
