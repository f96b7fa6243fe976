"""Traced values given to functions that are not torch's, or that want a tensor and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces

pytest.importorskip("numpy", reason="these models call numpy, which torch does without")

NUMPY = "import numpy as np"
FOREIGN = {
    "np.sqrt": Case("return x + torch.from_numpy(⟦np.sqrt(x)⟧)", top=NUMPY),
    "np.array": Case("return x + torch.from_numpy(⟦np.array(x)⟧)", top=NUMPY),
    "np.asarray": Case("return x + torch.as_tensor(⟦np.asarray(x)⟧)", top=NUMPY),
    "np.array of the shape": Case("y = ⟦np.array(x.shape)⟧\nreturn x * int(y[0])", top=NUMPY),
    "an unbound method": Case("return ⟦torch.Tensor.flatten(x)⟧"),
    "an unbound method of two": Case("return ⟦torch.Tensor.add(x, x)⟧"),
    "a mapped method": Case("return [f(x) for f in (torch.relu,)] + [⟦torch.Tensor.relu(x)⟧]"),
}
UNSUPPORTED = {
    "a numpy number on the left": Case("return ⟦np.float32(2) * x⟧", top=NUMPY),
    "a numpy number on the right": Case("return ⟦x * np.float32(2)⟧", top=NUMPY),
    "a numpy number of the module": Case("return ⟦x + self.n⟧", "self.n = np.float32(2)", top=NUMPY),
}
FAIL = {
    "np.prod": Case("return x.view(⟦np.prod(x.shape)⟧)", top=NUMPY),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_function_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(FOREIGN[name], "FX108")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_foreign_function_is_located_at_its_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(FOREIGN, "FX108", spelling)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_number_of_numpy_is_located_at_the_operation(name: str, stands: Stands) -> None:
    stands(UNSUPPORTED[name], "FX111")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_number_of_numpy_is_located_at_the_operation_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(UNSUPPORTED, "FX111", spelling)


@pytest.mark.parametrize("name", FAIL)
def test_what_numpy_records_is_located_at_its_call(name: str, stands: Stands) -> None:
    stands(FAIL[name], "FX402")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_what_numpy_records_is_located_at_its_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(FAIL, "FX402", spelling)


TRACES = {
    "numbers of configuration": Case("return x * float(np.sqrt(self.n))", "self.n = 4", top=NUMPY),
    "linspace in the constructor": Case(
        "return [x * r for r in self.rates]", "self.rates = [v.item() for v in np.linspace(0, 1, 3)]", top=NUMPY
    ),
    "a python number of numpy's": Case("return x * int(np.prod([2, 3]))", top=NUMPY),
    "detach and cpu": Case("return x.detach().cpu()"),
    "a torch function by name": Case("return getattr(torch, 'relu')(x) + getattr(F, self.f)(x)", "self.f = 'relu'"),
    "a bound method": Case("f = x.flatten\nreturn f()"),
}


@pytest.mark.parametrize("name", TRACES)
def test_uses_of_numpy_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


EINOPS = """
import torch

def get_backend(tensor):
    if isinstance(tensor, torch.Tensor):
        return torch
    raise RuntimeError(f"Tensor type unknown to einops {type(tensor)}")

def rearrange(tensor, pattern, **sizes):
    first = tensor[0] if isinstance(tensor, list) else tensor
    backend = get_backend(first)
    if isinstance(tensor, list):
        return backend.stack(tensor)
    assert len(tensor.shape) == len(pattern.split())
    return tensor.reshape(*tensor.shape, 1)

def reduce(tensor, pattern, reduction):
    return get_backend(tensor).mean(tensor, -1)
"""
"""What matters of einops, which is not installed here: it asks for the type, then for the rank."""
BEHIND = {
    "once": "return ⟦rearrange(x, 'b c')⟧",
    "twice": "x = ⟦rearrange(x, 'b c')⟧ * 2\nreturn ⟦rearrange(x, 'b c d')⟧",
    "of a list": "y = ⟦rearrange([x, x], 'n b c')⟧\nreturn y.relu()",
    "by another name": "y = ⟦einops.reduce(x, 'b c -> b', 'mean')⟧\nreturn y.relu()",
    "in a forward that is run again": "y = x.mean().item()\nreturn ⟦rearrange(x, 'b c')⟧",
    "before a slice by a traced size": "y = ⟦rearrange(x, 'b c')⟧\nreturn y[:, : x.shape[1]]",
    "of a constant": "return x + rearrange(torch.ones(4), 'c').mean()",
}


@pytest.mark.parametrize("name", BEHIND)
def test_a_call_of_einops_behind_a_failure_is_one_problem_and_what_follows_is_known(
    name: str, followed: Followed, write: Callable[..., str]
) -> None:
    write(EINOPS, "einops.py")
    lines = ["if ⟦x.sum() > 0⟧: x = x + 1", *BEHIND[name].split("\n")]
    body = "\n".join(f"        {line}" for line in lines)
    text = f"import einops\nfrom einops import rearrange\n\nclass Net(nn.Module):\n    def forward(self, x):\n{body}\n"
    report = followed(text, "FX101", *["FX108"] * (text.count("⟦") - 1))
    assert report.complete
