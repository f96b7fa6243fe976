"""Losses beside ``forward`` whose operand another way through the code may make are not reported."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

SOFT = """
class Net(nn.Module):
    def __init__(self, kind="probs"):
        super().__init__()
        self.kind = kind
        self.fc = nn.Linear(4, 3)
        self.net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.net(x)

"""
STEP = """
def step(model: Net, x, y):
    return F.nll_loss(model(x), y)
"""
LOSS = "\n    return F.cross_entropy(model(x), y)\n"
LAST = "\ndef step(x, y):" + LOSS


def returning(*lines: str, method: str = "") -> str:
    """Return the class with other lines of ``forward``, and a method before it."""
    body = "\n        ".join(lines)
    return SOFT.replace("        return self.net(x)", f"        {body}").replace(
        "    def forward", method + "    def forward"
    )


PASSED_ON = {
    "a function that returns its argument in the trace": "def maybe_log(p, log):\n    return p.log() if log else p\n\n"
    + returning("return maybe_log(F.softmax(self.fc(x), dim=1), not self.training)"),
    "a method that returns its argument in the trace": returning(
        "return self.finish(F.softmax(self.fc(x), dim=1))",
        method="    def finish(self, p):\n        return p if self.training else p.log()\n\n",
    ),
    "a lookup": returning("logits = self.fc(x)", 'return {"logits": logits, "probs": logits.softmax(1)}[self.kind]'),
    "an index": returning("z = self.fc(x)", "return (z.softmax(1), z)[not self.training]"),
    "and and or": returning("z = self.fc(x)", "return self.training and z.softmax(1) or z"),
    "a change in place": returning("p = F.softmax(self.fc(x), dim=1)", "p.log_()", "return p"),
    "a last module that returns its argument": "class Log(nn.Module):\n    def forward(self, p):\n"
    "        return p if self.training else p.log()\n\n"
    + SOFT.replace("nn.Softmax(dim=1))", "nn.Softmax(dim=1), Log())"),
    "a call that is something else than forward": returning(
        "return self.net(x)",
        method="    def __call__(self, x):\n        return super().__call__(x).log()\n\n",
    ),
}
BRANCHES = {
    "a condition of the function": """
def train(model, x, y, criterion, take_log):
    out = model(x)
    return criterion(out.log(), y) if take_log else criterion(out, y)

train(Net(), None, None, nn.NLLLoss(), True)
""",
    "a branch": """
def train(model, x, y, take_log):
    out = model(x)
    if take_log:
        return F.nll_loss(out.log(), y)
    else:
        return F.nll_loss(out, y)

train(Net(), None, None, True)
""",
    "a return before": """
def train(model, x, y, take_log):
    out = model(x)
    if take_log:
        return F.nll_loss(out.log(), y)
    return F.nll_loss(out, y)

train(Net(), None, None, True)
""",
    "a round of a loop that ends before": """
def train(model, loader, take_log):
    for x, y in loader:
        out = model(x)
        if take_log:
            F.nll_loss(out.log(), y).backward()
            continue
        F.nll_loss(out, y).backward()

train(Net(), [], True)
""",
    "a condition at top level": """
model, criterion = Net(), nn.NLLLoss()
def step(x, y):
    if isinstance(criterion, nn.NLLLoss):
        return criterion(model(x).log(), y)
    else:
        return criterion(model(x), y)
""",
}
WRAPPER = """
class Lit(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Net()
        {change}

    def training_step(self, batch, index):
        x, y = batch
        return F.cross_entropy(self.model(x), y)
"""
IN_A_WRAPPER = (
    "self.model.net[-1] = nn.Identity()",
    "self.model.net.pop(-1)",
    "del self.model.net[-1]",
    'setattr(self.model, "net", nn.Identity())',
    "self.model.register_forward_hook(lambda m, i, o: o.log())",
    "self.model.net.append(nn.ReLU())",
)
CHANGES = (
    'model.add_module("net", nn.Identity())',
    'model._modules["net"] = nn.Identity()',
    'model._modules.pop("net")',
    "head = model.net; head[-1] = nn.Identity()",
    "model.net[0][1] = nn.Identity()",
    "model.net[-1] = nn.Identity()",
    "del model.net[-1]",
    "model.net.pop(-1)",
    "model.net = nn.Identity()",
    "model.register_forward_hook(lambda m, i, o: o.log())",
    'model.set_submodule("net", nn.Identity())',
    'setattr(model, "net", nn.Identity())',
    "import surgery; surgery.strip_softmax(model)",
    "from surgery import strip_softmax; n = strip_softmax(model)",
    "from surgery import strip_softmax; n = strip_softmax(net=model)",
    'from unittest import mock; mock.patch.object(model, "net", nn.Identity()).start()',
    'from unittest import mock; mock.patch.object(Net, "forward", lambda s, x: s.fc(x)).start()',
    "other = model; other.net = nn.Identity()",
)
FUNCTION_CHANGES = """
def strip(net):
    net.register_module("act", nn.Identity())

def prepare(net):
    strip(net)

model = Net()
def setup():
    prepare(model)
"""
OTHER_CONSTRUCTORS = {
    "a part that an argument deletes": "        if logits:\n            del self.net[-1]\n",
    "a part that an argument takes out": "        if logits:\n            self.net.pop(-1)\n",
    "a part that an argument adds": '        if logits:\n            self.add_module("net", nn.Identity())\n',
    "a function that is given the model": "        if logits:\n            surgery.strip(self)\n",
}
SUBCLASSES = {
    "another name for the base": "Base = Net\nclass Raw(Base):\n    def forward(self, x):\n        return x\n",
    "a generic base": "class Raw(Net[int]):\n    def forward(self, x):\n        return self.fc(x)\n",
    "a class that type makes": 'Raw = type("Raw", (Net,), {})\n',
    "a subclass": "class Raw(Net):\n    def forward(self, x):\n        return self.fc(x)\n",
}


@pytest.mark.parametrize("init", ["Net()", "Net().eval()"])
@pytest.mark.parametrize("name", PASSED_ON)
def test_what_runs_behind_the_activation_without_a_node_proves_nothing(
    name: str, init: str, mistakes: Mistakes
) -> None:
    mistakes(PASSED_ON[name] + STEP, init=init)


@pytest.mark.parametrize("name", BRANCHES)
def test_a_loss_in_a_branch_proves_nothing(name: str, mistakes: Mistakes) -> None:
    mistakes(SOFT + BRANCHES[name])


@pytest.mark.parametrize("change", IN_A_WRAPPER)
def test_the_constructor_of_a_wrapper_may_change_the_model(change: str, mistakes: Mistakes) -> None:
    mistakes(SOFT + WRAPPER.format(change=change))


def test_a_wrapper_that_changes_nothing_is_reported(mistakes: Mistakes) -> None:
    wrapper = WRAPPER.format(change="self.rate = 0.1").replace("return F.", "return ⟦F.").replace("(x), y)", "(x), y)⟧")
    mistakes(SOFT + wrapper, "FX606")


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_the_file_may_change_is_not_reported(change: str, mistakes: Mistakes) -> None:
    mistakes(SOFT + f"\nmodel = Net()\ndef setup():\n    {change}\n" + LAST)


def test_a_function_that_passes_the_model_to_one_that_changes_it_is_seen(mistakes: Mistakes) -> None:
    mistakes(SOFT + FUNCTION_CHANGES + LAST)


@pytest.mark.parametrize("name", OTHER_CONSTRUCTORS)
def test_arguments_that_change_a_part_in_the_constructor_prove_nothing(name: str, mistakes: Mistakes) -> None:
    text = SOFT.replace('kind="probs"', 'kind="probs", logits=False').replace(
        "\n    def forward", OTHER_CONSTRUCTORS[name] + "\n    def forward"
    )
    mistakes(text + "\nmodel = Net(logits=True)\n" + LAST)


@pytest.mark.parametrize("name", SUBCLASSES)
def test_an_instance_that_may_be_of_a_subclass_is_not_reported(name: str, mistakes: Mistakes) -> None:
    text = SOFT.replace("(nn.Module)", "(nn.Module, Generic[T])")
    head = 'from typing import Generic, TypeVar\n\nT = TypeVar("T")\n' + text
    mistakes(f"{head}\n{SUBCLASSES[name]}\ndef step(model: Net, x, y):{LOSS}")


@pytest.mark.parametrize("change", ["out.data.log_()", "out[:].log_()", "torch.log(out, out=out)", "t = out; t.log_()"])
def test_a_result_that_is_changed_in_place_is_not_reported(change: str, mistakes: Mistakes) -> None:
    mistakes(f"{SOFT}\ndef step(model: Net, x, y):\n    out = model(x)\n    {change}\n    return F.nll_loss(out, y)\n")


def test_a_result_that_an_attribute_holds_is_not_reported(mistakes: Mistakes) -> None:
    method = (
        "    def training_step(self, x, y):\n        self.out = self(x)\n        self.out.log_()\n"
        "        return F.nll_loss(self.out, y)\n\n"
    )
    mistakes(returning("return self.net(x)", method=method))


def test_a_name_that_a_function_declares_global_is_not_known(mistakes: Mistakes) -> None:
    mistakes(f"{SOFT}\nmodel = Net()\ndef change():\n    global model\n    model = nn.Identity()\n{LAST}")


def test_a_file_that_imports_all_names_of_another_proves_nothing(mistakes: Mistakes) -> None:
    mistakes(f"{SOFT}\nmodel = Net()\n{LAST}\nfrom math import *\n")
