"""Traced values that are iterated: torch.fx knows no number of items, the recovering pass does."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces

ITERATED = {
    "for": Case("y = 0\nfor row in ⟦x⟧:\n    y = y + row\nreturn y"),
    "enumerate": Case("y = 0\nfor i, row in ⟦enumerate(x)⟧:\n    y = y + row * i\nreturn y"),
    "zip": Case("y = 0\nfor a, b in ⟦zip(x, x)⟧:\n    y = y + a * b\nreturn y"),
    "zip with layers": Case(
        "for layer, row in ⟦zip(self.layers, x)⟧:\n    x = x + layer(row)\nreturn x",
        "self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.ReLU()])",
    ),
    "map": Case("return torch.stack(list(⟦map(torch.relu, x)⟧))"),
    "a list comprehension": Case("ys = [c + 1 for c in ⟦x.chunk(2, 1)⟧]\nreturn torch.cat(ys, 1)"),
    "a generator expression": Case("return torch.cat(tuple(c + 1 for c in ⟦x.split(2, 1)⟧), 1)"),
    "a dict comprehension": Case("ys = {i: r * i for i, r in ⟦enumerate(x.unbind(0))⟧}\nreturn ys[2]"),
    "list": Case("ys = ⟦list(x.chunk(2, 1))⟧\nreturn torch.cat(ys, 1)"),
    "tuple": Case("n, m = ⟦tuple(x.shape)⟧\nreturn x * n"),
    "a list of sizes": Case("shape = ⟦list(x.shape)⟧\nshape[0] = 3\nreturn x.reshape(shape)"),
    "sum": Case("return ⟦sum(x)⟧"),
    "a star in a call": Case("return ⟦x.view(*x.shape[:-1], 2, 2)⟧"),
    "a star of the shape": Case("y = ⟦torch.zeros(*x.shape)⟧\nreturn x + y"),
    "a star in a list": Case("return x.reshape(⟦[*x.shape, 1]⟧)"),
    "a star in a tuple": Case("return x.reshape(⟦(*x.shape[:1], 4)⟧)"),
    "star unpacking": Case("⟦b, *rest⟧ = x.shape\nreturn x * b"),
    "star unpacking at the front": Case("⟦*rest, n⟧ = x.shape\nreturn x * n"),
    "extend": Case("shape = [1]\n⟦shape.extend(x.shape)⟧\nreturn x.reshape(shape)"),
    "a part of the shape": Case("for v in ⟦x.shape[0:1]⟧:\n    x = x + v\nreturn x"),
    "max of an iterable": Case("return x * ⟦max(x.shape)⟧", also=frozenset({"FX101"})),
    "in a tensor": Case("if ⟦4 in x.shape⟧:\n    x = x + 1\nreturn x"),
    "a nested loop": Case(
        "y = 0\nfor row in ⟦x⟧:\n    for item in ⟦row⟧:\n        y = y + item\nreturn y", inputs="torch.ones(2, 2)"
    ),
    "two loops of a comprehension": Case(
        "return torch.stack([a * b for a in ⟦x⟧ for b in ⟦x.unbind(0)⟧])", inputs="torch.ones(2, 2)"
    ),
    "two loops of a generator expression": Case(
        "return sum(a * b for a in (1, 2) for b in ⟦x.unbind(0)⟧)", inputs="torch.ones(2, 2)"
    ),
    "yield from": Case("def rows(x):\n    yield from ⟦x⟧\n\nreturn torch.stack([row + 1 for row in rows(x)])"),
    "tolist": Case("for v in ⟦x.sum(1).tolist()⟧:\n    x = x + v\nreturn x"),
}


@pytest.mark.parametrize("name", ITERATED)
def test_iteration_is_located_at_what_is_iterated(name: str, stands: Stands) -> None:
    stands(ITERATED[name], "FX102")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_iteration_is_located_at_what_is_iterated_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(ITERATED, "FX102", spelling)


TRACES = {
    "unpacking a shape": Case("a, b = x.shape\nreturn x.view(b, a)"),
    "unpacking sizes": Case("a, b = x.size()\nreturn x.reshape(b, a)"),
    "unpacking chunks": Case("a, b = x.chunk(2, 1)\nreturn a + b"),
    "nested unpacking": Case("(a, b), c = x.chunk(2, 1), 3\nreturn a + b * c"),
    "unpacking with a list": Case("[a, b] = x.split(2, dim=1)\nreturn a + b"),
    "unpacking max": Case("values, indices = x.max(dim=1)\nreturn values + indices"),
    "chunks by index": Case("parts = x.chunk(2, 1)\nreturn parts[0] + parts[1]"),
    "cat of chunks": Case("return torch.cat(x.chunk(2, 1), 0)", needs="parsers"),
    "stack of unbind": Case("return torch.stack(x.unbind(0), dim=1)", needs="parsers"),
    "a container": Case(
        "for layer in self.layers:\n    x = layer(x)\nreturn x", "self.layers = nn.ModuleList([nn.ReLU()])"
    ),
    "enumerated layers": Case(
        "for i, layer in enumerate(self.layers):\n    x = layer(x) * i\nreturn x",
        "self.layers = nn.ModuleList([nn.ReLU()])",
    ),
    "a dict of layers": Case(
        "return [layer(x) for name, layer in self.layers.items()]", "self.layers = nn.ModuleDict({'a': nn.ReLU()})"
    ),
    "lists of tensors": Case(
        "ys = [x]\nfor i in range(2):\n    ys.append(ys[-1] + i)\na, *rest = ys\nreturn torch.cat([*ys, *rest])"
    ),
    "zip of lists": Case("return sum(a * b for a, b in zip([x, x], [x, x + 1]))"),
    "the shape as an argument": Case(
        "return x.new_zeros(x.shape) + torch.zeros(x.shape) + x.view(x.shape)", needs="parsers"
    ),
    "an ellipsis": Case("return x[..., None][:, :, 0]"),
    "math.prod": Case("return x.reshape(math.prod(x.shape))", top="import math"),
    "movedim": Case("return x.permute(1, 0).flatten(0, 1)"),
}


@pytest.mark.parametrize("name", TRACES)
def test_loops_and_unpackings_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


def test_the_arguments_of_the_root_that_are_one_input_are_iterated(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, *xs):
                y = 0
                for x in ⟦xs⟧:
                    y = y + x
                return y
        """,
        "FX102",
        inputs="torch.ones(3), torch.ones(3)",
        also=frozenset({"FX318"}),
    )
    assert report.complete


def test_the_keywords_of_the_root_that_are_one_input_are_iterated(followed: Followed) -> None:
    report = followed(
        """
        def scaled(x, scale=1):
            return x * scale

        class Net(nn.Module):
            def forward(self, x, **options):
                return ⟦scaled(x, **options)⟧
        """,
        "FX102",
        inputs="torch.ones(3), scale=torch.ones(3)",
        also=frozenset({"FX318"}),
    )
    assert report.complete


@pytest.mark.parametrize(
    "use",
    [
        "for k, v in ⟦d.items()⟧:\n    y = y + v",
        "for k in ⟦d⟧:\n    y = y + d[k]",
        "for v in ⟦d.values()⟧:\n    y = y + v",
    ],
)
def test_a_dict_that_is_an_input_is_iterated(use: str, followed: Followed) -> None:
    body = "y = 0\n" + use + "\nreturn y"
    text = "class Net(nn.Module):\n    def forward(self, d):\n" + "".join(
        f"        {line}\n" for line in body.split("\n")
    )
    report = followed(text, "FX102", inputs="{'a': torch.ones(3), 'b': torch.ones(3)}")
    assert report.complete


def test_a_key_is_looked_for_in_a_dict_that_is_an_input(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, d):
                if ⟦'a' in d⟧:
                    return d['a'] + 1
                return d['b']
        """,
        "FX102",
        inputs="{'a': torch.ones(3)}",
    )
    assert report.complete


def test_items_of_inputs_that_are_containers_are_silent(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, d, pair):
                a, b = pair
                return d['a'] + a * b + pair[0]
        """,
        inputs="{'a': torch.ones(3)}, (torch.ones(3), torch.ones(3))",
    )
    assert report.complete


def test_a_refusal_in_two_modules_has_the_words_of_torch_once(followed: Followed) -> None:
    report = followed(
        """
        class Block(nn.Module):
            def forward(self, x):
                return ⟦x.reshape(*x.shape)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(Block(), Block())

            def forward(self, x):
                return self.blocks(x)
        """,
        "FX102",
    )
    _, *more = report.problems[0].message.split("\n")
    assert more == ["TraceError: Proxy object cannot be iterated", "Also in blocks.1."]
