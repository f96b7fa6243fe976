"""Mistakes in a model have one code and severity, however its inputs were found and whatever else is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from tests.support.worker import Worker

HEAD = """
import math
import torch
import torch.nn.functional as F
from torch import nn

class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x, skip):
        return self.fc(x) + skip
"""
CLASS = """
class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""
OTHER_PROBLEM = "if x.sum() > 0:\n            x = -x\n        "


@dataclass(frozen=True)
class Mistake:
    init: str
    forward: str
    code: str
    inputs: str = "torch.randn(2, 8)"


IMAGE = "torch.randn(2, 3, 16, 16)"
MISTAKES = {
    "misspelt_attribute": Mistake("self.head = nn.Linear(8, 2)", "return self.haed(x)", "FX403"),
    "local_name": Mistake("conv = nn.Linear(8, 8)", "return self.conv(x)", "FX403"),
    "no_self": Mistake("self.a = nn.Linear(8, 8)", "return a(x)", "FX403"),
    "misspelt_function": Mistake("self.a = nn.Linear(8, 8)", "return F.rleu(self.a(x))", "FX403"),
    "misspelt_torch": Mistake("self.a = nn.Linear(8, 8)", "return torch.sigmod(self.a(x))", "FX403"),
    "undefined_variable": Mistake("self.a = nn.Linear(8, 8)", "return self.a(x) + residual", "FX403"),
    "missing_import": Mistake("self.a = nn.Linear(8, 8)", "return rearrange(self.a(x), 'b c -> c b')", "FX403"),
    "layer_as_function": Mistake("self.a = nn.Linear(8, 8)", "y = nn.ReLU(self.a(x)) * 2\n        return y", "FX403"),
    "adds_layer": Mistake("self.a = nn.Linear(8, 8)", "return self.a + x", "FX403"),
    "passes_layer": Mistake("self.a = nn.Linear(8, 8); self.b = nn.Linear(8, 8)", "return self.b(self.a)", "FX403"),
    "passes_layer_of_a_variable": Mistake(
        "self.pool = nn.MaxPool2d(2); self.c = nn.Sequential(nn.Conv2d(3, 4, 1))",
        "x = self.pool\n        return self.c(x)",
        "FX403",
        IMAGE,
    ),
    "missing_argument": Mistake("self.block = Block()", "return self.block(x)", "FX403"),
    "extra_argument": Mistake("self.block = Block()", "return self.block(x, x, x)", "FX403"),
    "argument_of_a_layer": Mistake("self.pool = nn.MaxPool1d(2)", "return self.pool(x, 1)", "FX403"),
    "dimension": Mistake("self.a = nn.Conv2d(3, 8, 3)", "return torch.flatten(self.a(x), 7)", "FX401", IMAGE),
    "unknown_keyword": Mistake("self.block = Block()", "return self.block(x, skip=x, scale=2)", "FX403"),
    "calls_none": Mistake("self.act = None", "return self.act(x)", "FX403"),
    "attribute_of_none": Mistake("self.act = None", "return self.act.weight + x", "FX403"),
    "indexes_layer": Mistake("self.a = nn.Linear(8, 8)", "return self.a[0](x)", "FX403"),
    "iterates_layer": Mistake(
        "self.a = nn.Linear(8, 8)", "for m in self.a:\n            x = m(x)\n        return x", "FX403"
    ),
    "unpacks_layer": Mistake("self.a = nn.Linear(8, 8)", "h, c = self.a\n        return h(x)", "FX403"),
    "attribute_of_none_in_a_product": Mistake(
        "self.act = None", "y = x * 2\n        return y * self.act.weight", "FX403"
    ),
    "length_of_a_layer": Mistake("self.a = nn.Linear(8, 8)", "return x * len(self.a)", "FX403"),
    "calls_list_of_layers": Mistake("self.layers = nn.ModuleList([nn.Linear(8, 8)])", "return self.layers(x)", "FX403"),
    "unpacks_too_few_sizes": Mistake("self.sizes = (1, 2, 3)", "a, b = self.sizes\n        return x * b", "FX403"),
    "unpacks_too_many_sizes": Mistake("self.sizes = [1]", "a, b = self.sizes\n        return x * b", "FX403"),
    "unpacks_number": Mistake("self.size = 3", "a, b = self.size\n        return x * b", "FX403"),
    "without_a_batch": Mistake(
        "self.c = nn.Conv2d(3, 8, 3); self.d = nn.Linear(9, 4)", "return self.d(self.c(x).mean((2, 3)))", "FX401", IMAGE
    ),
    "calls_number": Mistake("self.scale = 2.0", "return self.scale(x)", "FX403"),
    "method_misspelt": Mistake("self.a = nn.Linear(8, 8)", "return self._forwrd(x)", "FX403"),
    "attribute_of_layer": Mistake("self.a = nn.Linear(8, 8)", "return x @ self.a.weights", "FX403"),
    "module_index_out": Mistake("self.layers = nn.ModuleList([nn.Linear(8, 8)])", "return self.layers[3](x)", "FX403"),
    "module_dict_key": Mistake(
        "self.layers = nn.ModuleDict({'a': nn.Linear(8, 8)})", "return self.layers['b'](x)", "FX403"
    ),
    "tensor_method": Mistake("self.a = nn.Linear(8, 8)", "return self.a(x).rleu()", "FX403"),
    "two_linears": Mistake("self.a = nn.Linear(8, 20); self.b = nn.Linear(30, 5)", "return self.b(self.a(x))", "FX401"),
    "cat_ranks": Mistake(
        "self.a = nn.Linear(8, 20)", "y = self.a(x)\n        return torch.cat([y, y.unsqueeze(0)], 1)", "FX401"
    ),
    "conv_linear": Mistake(
        "self.c = nn.Conv2d(3, 8, 3); self.d = nn.Conv2d(16, 4, 3)",
        "return self.d(self.c(x))",
        "FX401",
        "torch.randn(2, 3, 16, 16)",
    ),
    "integers": Mistake(
        "self.a = nn.Linear(8, 8); self.b = nn.Linear(8, 8)", "return self.b(self.a(x).long())", "FX401"
    ),
    "softmax_dimension": Mistake("self.a = nn.Conv2d(3, 8, 3)", "return self.a(x).softmax(4)", "FX401", IMAGE),
    "stack": Mistake("self.a = nn.Linear(8, 8)", "y = self.a(x)\n        return torch.stack([y, y[..., :3]])", "FX401"),
    "norm": Mistake("self.a = nn.Linear(8, 16); self.n = nn.LayerNorm(8)", "return self.n(self.a(x))", "FX401"),
}
BY_WORDS = {
    "doubles": Mistake(
        "self.a = nn.Linear(8, 8); self.b = nn.Linear(8, 8)", "return self.b(self.a(x).double())", "FX401"
    ),
    "adds_sequence": Mistake("self.a = nn.Sequential(nn.Linear(8, 8))", "return self.a + x", "FX403"),
    "two_unknown_sizes": Mistake("self.a = nn.Linear(8, 8)", "return self.a(x).reshape(x.shape[0], -1, -1)", "FX401"),
    "index_of_features": Mistake("self.a = nn.Linear(8, 8)", "return self.a(x)[..., 9]", "FX401"),
}
"""Proven by what torch says, which is none of sizes."""
FINE = {
    "lazy_layer": ("self.a = nn.LazyLinear(4)", "return self.a(x)"),
    "sizes_that_forward_sets": (
        "self.sizes = ()",
        "self.sizes = x.shape\n        b, c = self.sizes\n        return x * c",
    ),
    "unpacked_sizes": ("self.sizes = (1, 2)", "a, b = self.sizes\n        return x * b"),
    "attribute_that_is_tested": ("", "return self.scale * x if hasattr(self, 'scale') else x"),
    "attribute_with_a_default": ("", "return x * getattr(self, 'scale', 2.0)"),
    "attribute_that_is_caught": (
        "",
        "try:\n            return self.head(x)\n        except AttributeError:\n            return x",
    ),
    "name_that_is_caught": ("", "try:\n            return fused(x)\n        except NameError:\n            return x"),
    "method_that_is_caught": (
        "",
        "try:\n            return x.rleu()\n        except AttributeError:\n            return x.relu()",
    ),
    "layer_or_none": ("self.act = None", "return x if self.act is None else self.act(x)"),
    "unreached_name": ("self.fast = False", "return fused(x) if self.fast else x"),
    "set_in_forward": ("", "self.last = x.shape\n        return x.reshape(self.last)"),
    "method_of_the_class": ("", "return self._go(x)\n\n    def _go(self, x):\n        return x"),
    "own_getattr": (
        "self.a = nn.Linear(8, 8)",
        (
            "return self.inner(x)\n\n    def __getattr__(self, name):\n"
            "        return super().__getattr__('a' if name == 'inner' else name)"
        ),
    ),
    "keyword_call": ("self.block = Block()", "return self.block(skip=x, x=x)"),
    "default_argument": ("", "def scaled(y, by=2):\n            return y * by\n        return scaled(x)"),
    "last_of_a_list": ("self.layers = nn.ModuleList([nn.Linear(8, 8)])", "return self.layers[-1](x)"),
    "indexed_sequential": ("self.a = nn.Sequential(nn.Linear(8, 8))", "return self.a[0](x)"),
    "iterated_sequential": (
        "self.a = nn.Sequential(nn.Linear(8, 8))",
        "for m in self.a:\n            x = m(x)\n        return x",
    ),
    "weight_of_a_layer": ("self.a = nn.Linear(8, 8)", "return x @ self.a.weight"),
    "functional_module": ("self.act = F.relu", "return self.act(x)"),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = HEAD
    for name, mistake in MISTAKES.items():
        text += CLASS.format(name=name, init=mistake.init, forward=mistake.forward)
        text += CLASS.format(name=f"{name}_after", init=mistake.init, forward=OTHER_PROBLEM + mistake.forward)
    for name, mistake in BY_WORDS.items():
        text += CLASS.format(name=name, init=mistake.init, forward=mistake.forward)
    for name, (init, forward) in FINE.items():
        text += CLASS.format(name=name, init=init or "pass", forward=forward)
    path = tmp_path_factory.mktemp("mistakes") / "models.py"
    path.write_text(text, encoding="utf-8")
    return path


def failures(report: Report) -> list[tuple[str, str, int | None]]:
    """Return code, severity and line of what is not about the other problem, unused parts, or the cause of it all."""
    return [
        (problem.code, problem.severity, None if problem.location is None else problem.location.line)
        for problem in report.problems
        if not problem.code.startswith(("FX101", "FX5", "FX6"))
    ]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_one_code_however_inputs_are_found(name: str, worker: Worker, models: Path) -> None:
    mistake, target = MISTAKES[name], f"{models}:{name}"
    guess = {"init": f"{name}()", "inputs": mistake.inputs, "source": "search"}
    alone = {
        "comment": failures(worker.report(target, f"{name}()", mistake.inputs, source="comment")),
        "searched": failures(worker.report(target)),
        "searched before": failures(worker.report(target, guess=guess)),
    }
    ((code, severity, line),) = alone["comment"]
    assert (code, severity) == (mistake.code, "error")
    assert alone == {way: [(code, severity, line)] for way in alone}
    after = {
        "call site": failures(worker.report(f"{target}_after", f"{name}_after()", mistake.inputs, source="call-site")),
        "searched": failures(worker.report(f"{target}_after")),
    }
    assert {way: [each[:2] for each in found] for way, found in after.items()} == {
        "call site": [(code, severity)],
        "searched": [(code, severity)],
    }


WITH_EACH_INPUT = (
    "misspelt_attribute",
    "undefined_variable",
    "adds_layer",
    "missing_argument",
    "dimension",
    "attribute_of_none",
    "module_index_out",
    "two_linears",
    "conv_linear",
    "stack",
)


@pytest.mark.parametrize("name", WITH_EACH_INPUT)
def test_a_failure_is_the_same_at_a_call_site_in_a_comment_as_a_guess_and_after_a_restart(
    name: str, worker: Worker, models: Path
) -> None:
    mistake, target = MISTAKES[name], f"{models}:{name}"
    guessed = worker.report(target)
    guess = {"init": guessed.recipe.init, "inputs": guessed.recipe.inputs, "source": "search"}
    found = {
        "call site": failures(worker.report(target, f"{name}()", mistake.inputs, source="call-site")),
        "comment": failures(worker.report(target, f"{name}()", mistake.inputs, source="comment")),
        "guess": failures(guessed),
        "restart": failures(worker.report(target, guess=guess)),
    }
    assert {way: [each[:2] for each in problems] for way, problems in found.items()} == {
        way: [(mistake.code, "error")] for way in found
    }
    assert len({line for problems in found.values() for _, _, line in problems}) == 1


@pytest.mark.parametrize("name", BY_WORDS)
def test_a_failure_that_is_none_of_sizes_is_proven_too(name: str, worker: Worker, models: Path) -> None:
    stated = failures(worker.report(f"{models}:{name}", f"{name}()", BY_WORDS[name].inputs))
    assert [each[:2] for each in stated] == [(BY_WORDS[name].code, "error")]
    assert failures(worker.report(f"{models}:{name}")) == stated


def problems_of(worker: Worker, target: str, *recipe: str) -> list[Problem]:
    return [each for each in worker.report(target, *recipe).problems if each.code in ("FX401", "FX403", "FX905")]


@pytest.mark.parametrize("name", FINE)
def test_what_looks_like_a_mistake_and_is_none_is_not_reported(name: str, worker: Worker, models: Path) -> None:
    target = f"{models}:{name}"
    assert problems_of(worker, target, f"{name}()", "torch.randn(2, 8)") == []
    assert problems_of(worker, target) == []


AS_TENSOR = {
    "sum": "return self.a + x",
    "sum_of_two": "return x + self.a",
    "product": "return x @ self.a",
    "operand_of_a_layer": "return self.b(self.a)",
    "function": "return torch.relu(self.a) + x",
    "functional": "return F.gelu(self.a) * x",
    "in_a_list": "return torch.cat([x, self.a], 1)",
    "first_of_a_list": "return torch.stack((self.a, x))",
    "behind_another_problem": f"{OTHER_PROBLEM}return self.a + x",
}
NO_OPERAND = {
    "iterated": "for layer in self.a:\n            x = layer(x)\n        return x",
    "unpacked": "h, c = self.a\n        return h",
    "indexed": "return self.a[0](x)",
    "called_wrongly": "return self.a(x, x)",
    "text": "return x + 'a'",
}


@pytest.mark.parametrize("name", [*AS_TENSOR, *NO_OPERAND])
def test_a_layer_that_is_used_as_a_tensor_is_named_first(name: str, worker: Worker, tmp_path: Path) -> None:
    init = "self.a = nn.Linear(8, 8)\n        self.b = nn.Linear(8, 8)"
    forward = AS_TENSOR.get(name) or NO_OPERAND[name]
    path = tmp_path / "model.py"
    path.write_text(HEAD + CLASS.format(name="Net", init=init, forward=forward))
    failing = [
        problem
        for problem in worker.report(f"{path}:Net", "Net()", "torch.randn(2, 8)").problems
        if problem.code in ("FX401", "FX403")
    ]
    first = [problem.message.split("\n")[0] for problem in failing]
    is_named = [each in (_NAMED, _UNNAMED) for each in first]
    assert is_named == ([True] if name in AS_TENSOR else [False] * len(first)), first


@pytest.mark.parametrize(
    ("kind", "forward"),
    [
        ("ReLU", "return self.a(nn.ReLU(x))"),
        ("ELU", "x = nn.ELU(1.0, self.a(x))\n        return self.a(x)"),
    ],
)
def test_a_layer_that_is_made_of_a_tensor_is_named_though_it_has_no_text(
    kind: str, forward: str, worker: Worker, tmp_path: Path
) -> None:
    path = tmp_path / "model.py"
    path.write_text(HEAD + CLASS.format(name="Net", init="self.a = nn.Linear(8, 8)", forward=forward))
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(2, 8)")
    (failing,) = (each for each in report.problems if each.code == "FX403")
    assert failing.severity == "error"
    assert failing.message.startswith(f"a layer ({kind}) is used as a tensor: is its call missing?")
    assert "FX905" not in {each.code for each in report.problems}


_NAMED = "layer `a` (Linear) is used as a tensor: is its call missing?"
_UNNAMED = "a layer (Linear) is used as a tensor: is its call missing?"
"""Where torch refuses it before there is a node, and the model has several such layers."""


def test_a_mistake_in_a_large_model_is_proven_without_stated_inputs(worker: Worker, tmp_path: Path) -> None:
    init = "self.blocks = nn.Sequential(*[nn.Sequential(nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16)) for _ in range(120)])"
    forward = "x = self.blocks(F.pad(x, [130] * 4))\n        return torch.flatten(x, 7)"
    path = tmp_path / "model.py"
    path.write_text(HEAD + CLASS.format(name="Net", init=init, forward=forward))
    (problem,) = failures(worker.report(f"{path}:Net"))
    assert problem[:2] == ("FX401", "error")
