"""Modules that are handed to a constructor, and have to return what is read of them or take what they are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.trials.values import Returning
from tests.tracing.search.frames import constructed, net

PAIR = "lambda self, first, *_, **__: (first, first,)"


def block(forward: str) -> str:
    return f"type('Block', (torch.nn.Identity,), {{'forward': {forward}}})()"


@pytest.mark.parametrize(
    ("run", "forward"),
    [
        pytest.param("a, b = self.part(x)\nreturn self.a(a) + b.mean()", PAIR, id="a pair"),
        pytest.param("a, *rest = self.part(x)\nreturn self.a(a) + rest[0].mean()", PAIR, id="one and others"),
        pytest.param(
            "found = self.part(x)\nreturn self.a(found['low']) + found['high'].mean()",
            "lambda self, first, *_, **__: {'low': first, 'high': first}",
            id="a dict",
        ),
        pytest.param(
            "return self.a(self.part(x).last_state)",
            "lambda self, first, *_, **__: __import__('types').SimpleNamespace(last_state=first)",
            id="an object",
        ),
        pytest.param(
            "return [self.a(each) for each in self.part(x).values()]",
            "lambda self, first, *_, **__: {'first': first}",
            id="a dict whose values are taken",
        ),
        pytest.param(
            "return self.a(self.part(query=x))",
            "lambda self, *args, **named: (lambda first, *_: first)(*args, *named.values())",
            id="what it is given by name",
        ),
        pytest.param(
            "return self.a(self.part(query=x, key=x)['low'])",
            "lambda self, *args, **named: (lambda first, *_: {'low': first})(*args, *named.values())",
            id="a dict of what it is given by name",
        ),
    ],
)
def test_a_module_that_is_handed_in_returns_what_is_read_of_it(
    run: str, forward: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("part", "self.part, self.a = part, nn.Linear(7, 2)", "x", run)
    report = worker.report(write(text) + ":Net")
    assert report.recipe.init == f"Net(part={block(forward)})"
    assert report.complete


@pytest.mark.parametrize(
    ("signature", "body", "init"),
    [
        pytest.param(
            "norm",
            "self.a = nn.Sequential(norm(nn.Conv2d(3, 3, 1)))\nassert isinstance(self.a[0], nn.Conv2d)",
            "Net(norm=(lambda module: module))",
            id="what changes a module",
        ),
        pytest.param(
            "conv_layer",
            "self.a = conv_layer(3, 8)\nself.b = conv_layer(8, 8, kernel_size=1)",
            "Net(conv_layer=__import__('functools').partial(torch.nn.Conv2d, kernel_size=3, padding=1))",
            id="a convolution that knows its kernel",
        ),
        pytest.param(
            "heads",
            "self.heads = nn.ModuleDict(heads)",
            "Net(heads={'first': torch.nn.Identity(), 'second': torch.nn.Identity()})",
            id="modules by name",
        ),
    ],
)
def test_what_makes_modules_can_be_called_as_it_is(
    signature: str, body: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    assert worker.report(write(constructed(signature, body)) + ":Net").recipe.init == init


def test_a_convolution_is_handed_in_where_no_block_of_the_file_can_be_called_like_that(
    worker: Any, write: Callable[..., str]
) -> None:
    text = constructed("conv_block", "self.a = conv_block(3, 8, kernel_size=1)")
    other = "class DropBlock(nn.Module):\n    def __init__(self, rate):\n        super().__init__()\n\n"
    report = worker.report(write(text.replace("class Net", f"{other}class Net")) + ":Net")
    assert report.recipe.init == "Net(conv_block=torch.nn.Conv2d)"


def test_a_module_that_returns_several_things_is_the_text_that_makes_it() -> None:
    assert Returning(count=2).text == block(PAIR)
