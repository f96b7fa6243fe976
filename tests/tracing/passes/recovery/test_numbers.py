"""Traced values where Python wants a number: torch.fx has none, the recovering pass does."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

LENGTHS = {
    "len": Case("return x * ⟦len(x)⟧"),
    "len of a shape": Case("n = ⟦len(x.shape)⟧\nreturn x * n"),
    "len of chunks": Case("return x * ⟦len(x.chunk(2, 1))⟧"),
    "len in a range": Case("for i in range(⟦len(x)⟧):\n    x = x + i\nreturn x"),
    "len in a condition": Case("if ⟦len(x.size())⟧ == 2:\n    x = x + 1\nreturn x"),
    "reversed": Case("return x + ⟦reversed(x)⟧"),
    "reversed chunks": Case("for part in ⟦reversed(x.chunk(2, 1))⟧:\n    y = part + 1\nreturn y"),
}
CONVERSIONS = {
    "int": Case("return x * ⟦int(x.sum())⟧"),
    "int of a size": Case("n = ⟦int(x.size(0) * 0.5)⟧\nreturn x[:n]"),
    "int of a quotient": Case("n = ⟦int(x.shape[1] / 2)⟧\nreturn x.reshape(n, -1)", inputs="torch.ones(4, 4)"),
    "float": Case("return x * ⟦float(x.size(0))⟧"),
    "float of a mean": Case("return x / ⟦float(x.mean())⟧"),
    "round": Case("return x * ⟦round(x.size(0))⟧"),
    "round with digits": Case("return x * ⟦round(x.size(0) / 7, 2)⟧"),
    "complex": Case("y = ⟦complex(x.size(0))⟧\nreturn x"),
    "int in a comprehension": Case("return [x[: ⟦int(s / 2)⟧] for s in (x.size(0), x.size(1))]"),
    "int of an item": Case("return x * ⟦int(x.sum().item())⟧"),
}
INDICES = {
    "range": Case("for i in ⟦range(x.shape[0])⟧:\n    x = x + i\nreturn x"),
    "range of steps": Case("for i in ⟦range(0, x.size(1), 2)⟧:\n    x = x + i\nreturn x"),
    "a comprehension over a range": Case("return torch.stack([x[:, i] * i for i in ⟦range(x.shape[1])⟧])"),
    "a list": Case("return x * ⟦self.l[x.size(0)]⟧", "self.l = [1, 2, 3, 4]"),
    "a tuple": Case("return x * ⟦(1, 2, 3)[x.dim()]⟧"),
    "a string": Case("y = ⟦'abcd'[x.size(0)]⟧\nreturn x"),
    "a slice of a list": Case("return x * sum(⟦[1, 2, 3][: x.dim()]⟧)"),
    "a buffer": Case("return x + ⟦self.b[: x.size(1)]⟧", "self.register_buffer('b', torch.zeros(10))"),
    "a buffer, two dimensions": Case(
        "return x + ⟦self.b[:, : x.size(0), : x.size(1)]⟧", "self.register_buffer('b', torch.zeros(1, 10, 10))"
    ),
    "a dict": Case("return x * ⟦self.d[x.size(0)]⟧", "self.d = {3: 1}"),
    "a module list": Case(
        "return ⟦self.m[x.argmax()]⟧(x)", "self.m = nn.ModuleList([nn.Linear(4, 4)])", inputs="torch.zeros(3, 4)"
    ),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_length_is_located_at_the_call(name: str, stands: Stands) -> None:
    stands(LENGTHS[name], "FX103")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_length_is_located_at_the_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(LENGTHS, "FX103", spelling)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_is_located_at_the_call(name: str, stands: Stands) -> None:
    stands(CONVERSIONS[name], "FX104")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_conversion_is_located_at_the_call_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(CONVERSIONS, "FX104", spelling)


@pytest.mark.parametrize("name", INDICES)
def test_an_index_is_located_at_what_is_indexed(name: str, stands: Stands) -> None:
    stands(INDICES[name], "FX105")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_an_index_is_located_at_what_is_indexed_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(INDICES, "FX105", spelling)


TRACES = {
    "len of layers": Case(
        "return x * len(self.layers)", "self.layers = nn.ModuleList([nn.ReLU(), nn.ReLU()])", also=frozenset({"FX5"})
    ),
    "len of a list of tensors": Case("ys = [x, x]\nreturn x * len(ys)"),
    "a number of configuration": Case("return x * int(self.n) + float(self.n) + round(self.n)", "self.n = 3"),
    "a range of configuration": Case("for i in range(self.n):\n    x = x + i\nreturn x", "self.n = 3"),
    "a slice with a traced end": Case("n = x.size(1) // 2\nreturn x[:, :n] + x[:, n:]"),
    "an index that is traced": Case("return x[x.size(0) - 1] + x[:, x.size(0) % 4].sum()"),
    "a buffer by traced numbers and tensors": Case(
        "return self.b[x.size(0)] + self.b[x.argmax(1)] + self.b.narrow(0, 0, x.size(0))",
        "self.register_buffer('b', torch.zeros(10, 4))",
        needs="parsers",
    ),
    "a slice of a parameter": Case("return x + self.p[: x.size(1)]", "self.p = nn.Parameter(torch.ones(10))"),
    "a module list by number": Case(
        "return self.m[1](self.m[-2](x)) + self.m[0:1][0](x)", "self.m = nn.ModuleList([nn.ReLU(), nn.Tanh()])"
    ),
    "item": Case("return x * x.sum().item()"),
    "a list that is repeated": Case("ys = [1] * x.size(0)\nreturn x + ys[0]"),
    "numel": Case("return x / x.numel() + x.nelement()"),
    "math": Case("return x * math.ceil(x.size(0) / 2) + math.sqrt(x.size(-1))", top="import math"),
    "floor division": Case("return x.view(x.size(0) * 2, x.size(1) // 2)"),
    "a scale": Case("return x * x.size(-1) ** -0.5"),
    "interpolate": Case(
        "return F.interpolate(x, size=(x.size(2) * 2, x.size(3) * 2), mode='nearest')", inputs="torch.ones(1, 2, 3, 3)"
    ),
    "pooling to a size": Case("return F.adaptive_avg_pool2d(x, (x.shape[2] // 2, 1))", inputs="torch.ones(1, 2, 4, 4)"),
    "expand": Case("return x.unsqueeze(0).expand(2, -1, x.size(1)).repeat(1, 1, x.dim())"),
    "reversed layers": Case(
        "for layer in reversed(self.layers):\n    x = layer(x)\nreturn x",
        "self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])",
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_numbers_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
