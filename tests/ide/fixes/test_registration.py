"""Modules made in ``forward`` move to ``__init__``, and tensors that graphs take for constants become buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import HEAD, applied, assert_it_traces, changed, fixed, marked, model_of, net, offered


@pytest.mark.parametrize("code", ["FX201", "FX203"])
@pytest.mark.parametrize(
    ("initialisation", "forward", "made", "name"),
    [
        ("self.a = nn.Linear(4, 4)", "return «nn.ReLU()(self.a(x))»", "nn.ReLU()", "relu"),
        ("self.a = nn.Linear(4, 4)", "return «nn.ReLU()»(self.a(x))", "nn.ReLU()", "relu"),
        ("self.relu = nn.Linear(4, 4)", "return «nn.ReLU()(self.relu(x))»", "nn.ReLU()", "relu_1"),
        ("self.a = 4  # Maß", "act = nn.GELU()\nx = «act(x)»\nreturn x", "nn.GELU()", "act"),
        ("self.n = 4", "return «nn.Linear(self.n, 8)(x)» * 2", "nn.Linear(self.n, 8)", "linear"),
        (
            "self.n = 4",
            "return «torch.nn.Linear(\n    self.n,  # in\n    8,\n)(x)»",
            "torch.nn.Linear(\n            self.n,  # in\n            8,\n        )",
            "linear",
        ),
        (
            "self.n = 4\nif self.n:\n    self.a = nn.ReLU()",
            "for _ in range(3):\n    x = «nn.Tanh()(x)»\nreturn x",
            "nn.Tanh()",
            "tanh",
        ),
        (
            "self.n = 4",
            "m = nn.Sequential(*[nn.Linear(k, 4) for k in (4, 4)]).eval()\nreturn «m(x)»",
            "nn.Sequential(*[nn.Linear(k, 4) for k in (4, 4)]).eval()",
            "m",
        ),
        ("self.n = 4", "train = nn.Linear(SIZE, SIZE)\nreturn «train(x)»", "nn.Linear(SIZE, SIZE)", "train_1"),
    ],
)
def test_a_module_is_made_once(
    code: str, initialisation: str, forward: str, made: str, name: str, worker: Any, write: Callable[..., str]
) -> None:
    head = f"{HEAD}SIZE = 4\n\n\n"
    text = net(initialisation, forward, head)
    after = fixed(text, code, "__init__")
    before = marked(text)[0].text
    last = "        " + initialisation.rsplit("\n", maxsplit=1)[-1]
    expected = before.replace(made, f"self.{name}").replace(f"{last}\n", f"{last}\n        self.{name} = {made}\n", 1)
    assert after == expected
    assert_it_traces(worker, write, text, expected, same_values=False)


def test_a_class_without_an_initializer_gets_one(worker: Any, write: Callable[..., str]) -> None:
    text = f"{HEAD}class Net(nn.Module):\n\t# The one method.\n\tdef forward(self, x):\n\t\treturn «nn.ReLU()(x)»\n"
    after = fixed(text, "FX203")
    initializer = "\tdef __init__(self):\n\t\tsuper().__init__()\n\t\tself.relu = nn.ReLU()\n\n"
    assert after == changed(
        text, ("\tdef forward", f"{initializer}\tdef forward"), ("return nn.ReLU()", "return self.relu")
    )
    assert_it_traces(worker, write, text, after)


def test_an_initializer_on_one_line_stays_one(worker: Any, write: Callable[..., str]) -> None:
    text = (
        f"{HEAD}class Net(nn.Module):\r\n    def __init__(self): super().__init__()  # short\r\n"
        "    def forward(self, x):\r\n        return «nn.ReLU()(x)»\r\n"
    )
    after = fixed(text, "FX203")
    assert after == changed(
        text,
        ("super().__init__()", "super().__init__(); self.relu = nn.ReLU()"),
        ("return nn.ReLU()", "return self.relu"),
    )
    assert_it_traces(worker, write, text, after)


@pytest.mark.parametrize(
    ("initialisation", "forward"),
    [
        ("self.a = 1", "return «nn.Linear(x.shape[1], 4)(x)»"),
        ("self.a = 1", "n = 4\nreturn «nn.Linear(n, 4)(x)»"),
        ("self.a = 1", "for _ in range(2):\n    x = «nn.Linear(4, 4)(x)»\nreturn x"),
        ("self.a = 1", "return sum(«nn.Linear(4, n)(x)» for n in (4, 4))"),
        ("self.a = 1", "return «nn.Linear(self.b, 4)(x)»"),
        ("self.a = 1\nself.a = 4", "return «nn.Linear(self.a, 4)(x)»"),
        ("self.a = 1", "self.a = 4\nreturn «nn.Linear(self.a, 4)(x)»"),
        ("SIZE = 3\nself.a = 1", "return «nn.Linear(SIZE, 4)(x)»"),
        ("if x:\n    return\nself.a = 1", "return «nn.ReLU()(x)»"),
        ("self.a = 1", "return «nn.Linear((n := 4), 4)(x)»"),
        ("self.a = 1", "act = nn.ReLU()\nif x is None:\n    act = nn.GELU()\nreturn «act(x)»"),
        ("self.a = 1", "def inner(y):\n    return «nn.ReLU()(y)»\nreturn inner(x)"),
        ("self.a = 1", "return «Unknown()(x)»"),
    ],
)
def test_a_module_that_cannot_be_made_beforehand_is_left_alone(initialisation: str, forward: str) -> None:
    assert offered(net(initialisation, forward, f"{HEAD}SIZE = 4\n\n\n"), "FX203") == []


def test_a_name_that_a_subclass_has_is_not_taken() -> None:
    text = net("self.a = 1", "return «nn.ReLU()(x)»")
    other = "\n\nclass Other(Net):\n    def setup(self):\n        self.relu = nn.ReLU()\n"
    after = fixed(text + other, "FX203")
    assert after is not None
    assert "self.relu_1 = nn.ReLU()" in after


def test_a_class_of_unknown_ancestry_is_left_alone() -> None:
    text = net("self.a = 1", "return «nn.ReLU()(x)»").replace("class Net(nn.Module)", "class Net(Unknown)")
    assert offered(text, "FX203") == []


@pytest.mark.parametrize(
    ("statement", "forward", "after"),
    [
        ("self.w = torch.ones(4)", "return x * «self.w»", 'self.register_buffer("w", torch.ones(4))'),
        ("self.w = torch.ones(4)  # é", "return x * «self.w»", 'self.register_buffer("w", torch.ones(4))  # é'),
        (
            "self.w = (\n    torch.arange(4)  # to 3\n    .float() * 2\n)",
            "return x * «self.w»",
            'self.register_buffer("w", (\n    torch.arange(4)  # to 3\n    .float() * 2\n))',
        ),
        (
            "self.w: torch.Tensor = 1 / torch.tensor([1.0, 2, 3, 4])",
            "return x * «self.w»",
            'self.w: torch.Tensor\nself.register_buffer("w", 1 / torch.tensor([1.0, 2, 3, 4]))',
        ),
        (
            "n = 4; self.w = torch.eye(n)[0]; m = n",
            "return x * «self.w»",
            'n = 4; self.register_buffer("w", torch.eye(n)[0]); m = n',
        ),
    ],
)
def test_a_tensor_becomes_a_buffer(
    statement: str, forward: str, after: str, worker: Any, write: Callable[..., str]
) -> None:
    text, expected = net(statement, forward), net(after, forward.replace("«", "").replace("»", ""))
    assert [fix.preferred for fix in offered(text, "FX308")] == [True, False]
    preferred = fixed(text, "FX308")
    assert preferred is not None
    assert preferred.count(", persistent=False)") == 1
    assert preferred.replace(", persistent=False)", ")") == expected
    assert_it_traces(worker, write, text, preferred, did_trace=True)
    assert fixed(text, "FX308", "of the state_dict") == expected
    assert_it_traces(worker, write, text, expected, did_trace=True)


def test_the_preferred_buffer_loads_the_checkpoints_of_before(write: Callable[..., str]) -> None:
    text = net("self.a = nn.Linear(4, 4)\nself.w = torch.ones(4)", "return self.a(x) * «self.w»")
    made, _ = marked(text)
    checkpoint = model_of(write(made.text, "before.py"), made.text).state_dict()
    preferred, other = (applied(made, fix) for fix in offered(text, "FX308"))
    model_of(write(preferred, "preferred.py"), preferred).load_state_dict(checkpoint, strict=True)
    saved = model_of(write(other, "saved.py"), other)
    with pytest.raises(RuntimeError, match="Missing key"):
        saved.load_state_dict(checkpoint, strict=True)


@pytest.mark.parametrize(
    ("initialisation", "forward"),
    [
        ("self.w = nn.Parameter(torch.ones(4))", "return x * «self.w»"),
        ("self.w = torch.ones(4, requires_grad=True)", "return x * «self.w»"),
        ("self.w = [torch.ones(4)]", "return x * «self.w[0]»"),
        ("self.w = make(4)", "return x * «self.w»"),
        ("self.w = torch.ones(4).tolist()", "return x * «self.w»"),
        ("self.w = torch.ones(4).split(2)", "return x * «self.w»"),
        ("self.w = self.v = torch.ones(4)", "return x * «self.w»"),
        ("self.w = torch.ones(4)\nself.w = None", "return x * «self.w»"),
        ("self.w = torch.ones(4)", "self.w = 3\nreturn x * «self.w»"),
        ("self.w = torch.ones(4)\nself.v = torch.ones(4)", "return x * «(self.w * self.v)»"),
        ("w = torch.ones(4)", "return x * «W»"),
        ("self.w = torch.ones(4)", "return x * «-self.w»"),
        ("self.w = torch.ones(4)", "return x * «self.w.exp()»"),
    ],
)
def test_what_is_no_tensor_of_its_own_is_left_alone(initialisation: str, forward: str) -> None:
    assert offered(net(initialisation, forward), "FX308") == []


def test_an_attribute_that_the_class_has_already_is_left_alone() -> None:
    text = net("self.w = torch.ones(4)", "return x * «self.w»")
    assert offered(text.replace("    def __init__", "    w = None\n\n    def __init__"), "FX308") == []
    typed = text.replace("    def __init__", "    w: torch.Tensor\n\n    def __init__")
    assert len(offered(typed, "FX308")) == 2
