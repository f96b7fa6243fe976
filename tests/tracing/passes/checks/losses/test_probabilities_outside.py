"""Losses beside ``forward`` that are given probabilities of the model are reported where the text proves it."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.act = {act}

    def forward(self, x):
        {body}

"""
SOFTMAX = NET.format(act="nn.Softmax(dim=1)", body="return F.softmax(self.a(x), dim=1)")
OF_MODULE = NET.format(act="nn.Softmax(dim=1)", body="return self.act(self.a(x))")
SIGMOID = NET.format(act="nn.Sigmoid()", body="y = self.a(x)\n        return torch.sigmoid(y)")
LOGITS = NET.format(act="nn.Softmax(dim=1)", body="return self.a(x)")
WRONG = {
    "a training loop at top level": SOFTMAX
    + """
model = Net()
criterion = nn.CrossEntropyLoss()
for x, y in []:
    loss = ⟦criterion(model(x), y)⟧
    loss.backward()
""",
    "a training function that makes both": SOFTMAX
    + """
def train(loader, device):
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        output = model(x.to(device))
        loss = ⟦criterion(output, y.to(device))⟧
        loss.backward()
""",
    "a parameter annotated with the class": SOFTMAX
    + """
def step(model: Net, x, y):
    model.train()
    return ⟦F.cross_entropy(model(x), y)⟧
""",
    "arguments of the only call": SOFTMAX
    + """
def train(model, loader, criterion):
    for x, y in loader:
        loss = ⟦criterion(model(x), y)⟧

def main():
    net = Net()
    net = net.to("cpu")
    train(net, [], criterion=nn.CrossEntropyLoss())
""",
    "a module of the model": OF_MODULE
    + """
def step(model: "Net", x, y):
    return ⟦torch.nn.functional.cross_entropy(input=model(x), target=y)⟧
""",
    "softmax for NLLLoss": OF_MODULE
    + """
model, criterion = Net(), nn.NLLLoss()
def step(x, y):
    probabilities = model.forward(x)
    return ⟦criterion(probabilities, y)⟧
""",
    "sigmoid": SIGMOID
    + """
class Trainer:
    def __init__(self):
        self.net = Net()
        self.criterion = nn.BCEWithLogitsLoss()

    def step(self, x, y):
        return ⟦self.criterion(self.net(x), y)⟧
""",
    "a name of another import": SIGMOID
    + """
from torch.nn.functional import binary_cross_entropy_with_logits as bce

def step(x, y):
    net = Net()
    return ⟦bce(net(x), y)⟧
""",
    "a training step of the model": """
class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.a = nn.Linear(4, width)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.a(x).softmax(-1)

    def training_step(self, batch, index):
        x, y = batch
        output = self(x)
        return ⟦self.loss(output, y)⟧
""",
    "the last layer of a Sequential": """
class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.net(x)

def step(model: Net, x, y):
    return ⟦F.cross_entropy(model(x), y)⟧
""",
    "a layer of a layer, with the arguments of the trace": """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 3)

    def forward(self, x):
        return torch.softmax(self.a(x), 1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()

    def forward(self, x):
        if x.ndim != 2:
            raise ValueError("two dimensions")
        return self.head(x)

def step(x, y):
    return ⟦F.cross_entropy(Net()(x), y)⟧
""",
    "two losses": SOFTMAX
    + """
model = Net()
def train(x, y):
    return ⟦F.cross_entropy(model(x), y)⟧

@torch.no_grad()
def validate(x, y):
    return ⟦F.cross_entropy(model(x), y)⟧.item()
""",
    "loops of training and test at top level": SOFTMAX
    + """
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
if __name__ == "__main__":
    for epoch in range(2):
        for images, labels in []:
            outputs = model(images)
            loss = ⟦criterion(outputs, labels)⟧
            loss.backward()
    for images, labels in []:
        outputs = model(images)
        loss = ⟦criterion(outputs, labels)⟧
        _, predicted = torch.max(outputs.data, 1)
    torch.save(model.state_dict(), "model.pt")
""",
    "a function that changes something else": SOFTMAX
    + """
history = {}
def train(model, loader, criterion, history):
    for batch in loader:
        batch["x"] = batch["x"].float()
        loss = ⟦criterion(model(batch["x"]), batch["y"])⟧
        history["loss"] = loss.item()

model = Net()
train(model, [], nn.CrossEntropyLoss(), history)
""",
    "a model on several devices": SOFTMAX
    + """
model = Net()
model = nn.DataParallel(model)
model = torch.compile(model.to("cpu"))
model.train()
def step(x, y):
    return ⟦F.cross_entropy(model(x), y)⟧
""",
    "a branch of forward that does not matter": NET.format(
        act="nn.Softmax(dim=1)",
        body="if self.training:\n            x = x + 1\n        x = self.act(self.a(x))\n        return x",
    )
    + """
def step(model: Net, x, y):
    return ⟦F.cross_entropy(model(x), y)⟧
""",
    "a method that returns the activation": NET.format(
        act="nn.Softmax(dim=1)",
        body="return self.finish(self.a(x))\n\n    def finish(self, y):\n        return y.softmax(1)",
    )
    + """
def step(x, y):
    return ⟦F.cross_entropy(Net()(x), y)⟧
""",
    "a function that looks at the model": SOFTMAX
    + """
def count(net):
    return sum(p.numel() for p in net.parameters())

model = Net()
print(count(model), model)
if __name__ == "__main__":
    for x, y in []:
        loss = ⟦F.cross_entropy(model(x), y)⟧
""",
}
STEP = """
def step(model: Net, x, y):
    return F.cross_entropy(model(x), y)
"""
RIGHT = {
    "logits": LOGITS + STEP,
    "logits, with an activation apart": LOGITS
    + STEP
    + "\ndef predict(model: Net, x):\n    return model(x).softmax(1)\n",
    "log_softmax": NET.format(act="nn.Softmax(dim=1)", body="return F.log_softmax(self.a(x), dim=1)")
    + "\ndef step(model: Net, x, y):\n    return F.nll_loss(model(x), y)\n",
    "sigmoid before BCELoss": SIGMOID + "\ndef step(model: Net, x, y):\n    return nn.BCELoss()(model(x), y)\n",
    "sigmoid before cross_entropy, which may be meant": SIGMOID + STEP,
    "softmax in eval mode alone": NET.format(
        act="nn.Softmax(dim=1)", body="y = self.a(x)\n        return y if self.training else y.softmax(1)"
    )
    + STEP,
    "an early return in training": NET.format(
        act="nn.Softmax(dim=1)",
        body="y = self.a(x)\n        if self.training:\n            return y\n        return y.softmax(1)",
    )
    + STEP,
    "an activation that is chosen before": NET.format(
        act="nn.Softmax(dim=1)",
        body="act = nn.Identity() if self.training else self.act\n        return act(self.a(x))",
    )
    + STEP,
    "an activation that an argument chooses": """
class Net(nn.Module):
    def __init__(self, logits=False):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.act = nn.Identity() if logits else nn.Softmax(dim=1)

    def forward(self, x):
        return self.act(self.a(x))

def step(model: Net, x, y):
    return F.cross_entropy(model(x), y)

def train(x, y):
    model = Net(logits=True)
    return F.cross_entropy(model(x), y)
""",
    "a method for logits": SOFTMAX.replace(
        "    def forward", "    def logits(self, x):\n        return self.a(x)\n\n    def forward"
    )
    + "\ndef step(model: Net, x, y):\n    return F.cross_entropy(model.logits(x), y)\n",
    "a layer of the model": SOFTMAX + "\ndef step(model: Net, x, y):\n    return F.cross_entropy(model.a(x), y)\n",
    "the logarithm": SOFTMAX + "\ndef step(model: Net, x, y):\n    return F.nll_loss(model(x).log(), y)\n",
    "the logarithm under a name": SOFTMAX
    + "\ndef step(model: Net, x, y):\n    p = model(x)\n    p = p.log()\n    return F.nll_loss(p, y)\n",
    "the logarithm in place": SOFTMAX
    + "\ndef step(model: Net, x, y):\n    p = model(x)\n    p.log_()\n    return F.nll_loss(p, y)\n",
    "probabilities as the target": SOFTMAX
    + "\ndef step(model: Net, student, x):\n    return F.cross_entropy(student(x), model(x))\n",
    "a model of any class": SOFTMAX + "\ndef step(model, x, y):\n    return F.cross_entropy(model(x), y)\n",
    "a name that is bound twice": SOFTMAX
    + "\nmodel = Net()\nmodel = nn.Sequential(model.a)\ndef step(x, y):\n    return F.cross_entropy(model(x), y)\n",
    "an argument that hides the model": SOFTMAX
    + "\nmodel = Net()\ndef step(model, x, y):\n    return F.cross_entropy(model(x), y)\n",
    "a loss of the user": SOFTMAX
    + """
def cross_entropy(p, y):
    return -(p.log() * y).sum()

class CrossEntropyLoss(nn.Module):
    def forward(self, p, y):
        return -(p.log() * y).sum()

def step(model: Net, x, y):
    criterion = CrossEntropyLoss()
    return cross_entropy(model(x), y) + criterion(model(x), y)
""",
    "a subclass with another forward": SOFTMAX.replace(
        "    def forward", "    def step(self, x, y):\n        return F.cross_entropy(self(x), y)\n\n    def forward"
    )
    + "\nclass Raw(Net):\n    def forward(self, x):\n        return self.a(x)\n",
    "a model whose activation is replaced": OF_MODULE
    + "\nmodel = Net()\ndef setup():\n    model.act = nn.Identity()\n"
    + "\ndef step(x, y):\n    return F.cross_entropy(model(x), y)\n",
    "an activation that a setting removes": OF_MODULE
    + "\ndef strip(net, name):\n    setattr(net, name, nn.Identity())\n"
    + STEP,
    "one of several results": NET.format(
        act="nn.Softmax(dim=1)", body="y = self.a(x)\n        return y, F.softmax(y, dim=1)"
    )
    + "\ndef step(model: Net, x, y):\n    logits, p = model(x)\n    return F.cross_entropy(logits, y)\n",
    "a criterion that is one of two": SOFTMAX
    + "\ndef step(model: Net, x, y, soft):\n    loss = nn.CrossEntropyLoss() if soft else nn.MSELoss()\n"
    + "    return loss(model(x), y)\n",
    "one criterion of each branch": SOFTMAX
    + "\ndef step(model: Net, x, y, soft):\n    if soft:\n        loss = nn.CrossEntropyLoss()\n"
    + "    else:\n        loss = nn.KLDivLoss()\n    return loss(model(x), y)\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_probabilities_of_the_model_in_a_loss_beside_forward_are_reported(name: str, mistakes: Mistakes) -> None:
    for problem in mistakes(WRONG[name], "FX606"):
        assert [place.message for place in problem.related] == ["it is applied here"]
        assert "which the model ends with" in problem.message


@pytest.mark.parametrize("name", RIGHT)
def test_a_loss_whose_operand_is_not_proven_to_be_probabilities_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(RIGHT[name])


EVAL = ["softmax in eval mode alone", "an early return in training", "an activation that is chosen before"]


@pytest.mark.parametrize("name", EVAL)
def test_what_a_model_does_in_eval_mode_proves_nothing_of_training(name: str, mistakes: Mistakes) -> None:
    mistakes(RIGHT[name], init="Net().eval()")


def test_a_model_whose_inputs_are_found_by_search_is_reported_as_well(mistakes: Mistakes) -> None:
    mistakes(WRONG["a training step of the model"], "FX606", None, None)


APPLIED = {
    "softmax in the loop": """
model, criterion = Net(), nn.CrossEntropyLoss()
for x, y in []:
    loss = ⟦criterion(torch.softmax(model(x), dim=1), y)⟧
""",
    "a name for the probabilities": """
def step(model: Net, x, y):
    probabilities = F.softmax(model(x), dim=1)
    return ⟦F.nll_loss(probabilities, y)⟧
""",
    "a method": """
def step(model: Net, x, y):
    return ⟦F.cross_entropy(model(x).softmax(1), y)⟧
""",
}


@pytest.mark.parametrize("name", APPLIED)
def test_softmax_of_the_result_in_the_loop_itself_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(LOGITS + APPLIED[name], "FX606")
    assert [place.message for place in problem.related] == ["it is applied here"]
    assert "which the model ends with" not in problem.message


def test_softmax_of_the_result_for_something_else_than_the_loss_is_not_reported(mistakes: Mistakes) -> None:
    mistakes(
        LOGITS
        + "\ndef step(model: Net, x, y):\n    out = model(x)\n    p = out.softmax(1)\n"
        + "    return F.cross_entropy(out, y) + F.nll_loss(p.log(), y)\n"
    )


def test_a_loss_in_a_forward_has_one_problem(mistakes: Mistakes) -> None:
    text = (
        SOFTMAX
        + """
class WithLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)
"""
    )
    mistakes(text)


def test_names_of_torch_that_import_or_raise_are_not_asked_for(mistakes: Mistakes) -> None:
    text = (
        WRONG["a parameter annotated with the class"]
        + """
def export(model: Net):
    torch.classes.my_ops.Stack()
    torch.onnx.export(model, torch.ones(2, 4), "net.onnx")
"""
    )
    mistakes(text, "FX606")


def test_an_expression_of_many_terms_does_not_lose_the_problems(mistakes: Mistakes) -> None:
    terms = " + ".join(["x"] * 1500)
    mistakes(f"{WRONG['two losses']}\ndef total(x):\n    return {terms}\n", "FX606")


def test_a_file_that_cannot_be_read_for_losses_has_its_report_all_the_same(mistakes: Mistakes) -> None:
    names = ".a" * 1500
    mistakes(
        f"{LOGITS}{STEP}\ndef deep(x):\n    return x{names}(x)\n\ndef view(model, x):\n    return model(x).softmax(1)\n"
    )
