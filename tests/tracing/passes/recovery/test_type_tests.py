"""Tests of a value's type and uses of its text, which see torch.fx's proxy: the graph is another than the model."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

TESTS = {
    "isinstance": Case("if ⟦isinstance(x, torch.Tensor)⟧:\n    x = x + 1\nreturn x"),
    "isinstance of several": Case("if ⟦isinstance(x, (torch.Tensor, float))⟧:\n    x = x + 1\nreturn x"),
    "an assert": Case("assert ⟦isinstance(x, torch.Tensor)⟧\nreturn x", is_traceable=False),
    "not isinstance": Case(
        "if not ⟦isinstance(x, torch.Tensor)⟧:\n    x = torch.stack(x)\nreturn x + 1", needs="parsers"
    ),
    "isinstance of a size": Case("n = x.size(0)\nif ⟦isinstance(n, int)⟧:\n    x = x * n\nreturn x"),
    "isinstance of a legacy type": Case(
        "if ⟦isinstance(x, (torch.FloatTensor, torch.HalfTensor))⟧:\n    x = x + 1\nreturn x"
    ),
    "isinstance of a legacy type, then what only fake tensors refuse": Case(
        "if ⟦isinstance(x, torch.FloatTensor)⟧:\n    x = x + 1\nreturn torch.where(self.mask, x, x * 2)",
        "self.register_buffer('mask', torch.ones(3, 4).byte())",
    ),
    "a comprehension": Case("return sum([y for y in (x, 1) if ⟦isinstance(y, torch.Tensor)⟧])", needs="columns"),
    "is_tensor": Case("if ⟦torch.is_tensor(x)⟧:\n    x = x + 1\nreturn x"),
    "type": Case("if ⟦type(x)⟧ == torch.Tensor:\n    x = x + 1\nreturn x"),
    "type is": Case("y = 2 if ⟦type(x)⟧ is torch.Tensor else 3\nreturn x * y"),
    "hasattr": Case("if ⟦hasattr(x, 'tensors')⟧:\n    x = x + 1\nreturn x"),
    "getattr with a default": Case("scale = ⟦getattr(x, 'scale', 2)⟧\nreturn x * scale"),
    "callable": Case("if not ⟦callable(x)⟧:\n    x = x + 1\nreturn x"),
    "a dtype that is": Case("if ⟦x.dtype⟧ is torch.float32:\n    x = x + 1\nreturn x", needs="columns"),
    "a dtype that is not": Case("return x if torch.float32 is not ⟦x.dtype⟧ else x + 1", needs="columns"),
    "no gradient": Case("if (\n    ⟦x.grad⟧ is None\n):\n    x = x * 2\nreturn x + 1", needs="columns"),
    "a flag": Case("y = 2 if ⟦x.is_sparse⟧ is False else 3\nreturn x * y", needs="columns"),
    "match": Case("match x:\n    case ⟦torch.Tensor()⟧:\n        x = x + 1\nreturn x", needs="columns"),
}
TEXTS = {
    "an f-string": Case("return x * len(⟦f'{x.shape}'⟧)"),
    "str": Case("return x * len(⟦str(x.shape[0])⟧)"),
    "percent": Case(
        "return self.d[⟦'k%s' % x.shape[0]⟧](x)", "self.d = nn.ModuleDict({'k3': nn.Linear(4, 4)})", is_traceable=False
    ),
    "format": Case("return x * len(⟦'{}'.format(x.size(0))⟧)"),
    "a key of a cache": Case("key = ⟦f'{x.size(0)}'⟧\nreturn x * self.c[key]", "self.c = {'3': 2}", is_traceable=False),
    "getattr by an f-string": Case(
        "return getattr(self, ⟦f'layer{x.size(0)}'⟧)(x)", "self.layer3 = nn.Linear(4, 4)", is_traceable=False
    ),
    "repr": Case("return x * len(⟦repr(x.shape)⟧)"),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_test_that_sees_the_proxy_is_located_at_itself(name: str, stands: Stands) -> None:
    stands(TESTS[name], "FX301")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_test_that_sees_the_proxy_is_located_at_itself_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(TESTS, "FX301", spelling)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_the_proxy_is_located_at_what_makes_it(name: str, stands: Stands) -> None:
    stands(TEXTS[name], "FX303")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_a_text_of_the_proxy_is_located_at_what_makes_it_elsewhere(
    spelling: str, stand_elsewhere: StandElsewhere
) -> None:
    stand_elsewhere(TEXTS, "FX303", spelling)


TRACES = {
    "isinstance of containers": Case("if isinstance(x, (list, tuple)):\n    x = x[0]\nreturn x + 1"),
    "isinstance of a dict": Case("if isinstance(x, dict):\n    x = x['x']\nreturn x + 1"),
    "isinstance of a module": Case(
        "for m in self.children():\n    if isinstance(m, nn.ReLU):\n        x = m(x)\nreturn x", "self.a = nn.ReLU()"
    ),
    "isinstance of None or str": Case("if x is None or isinstance(x, str):\n    return 0\nreturn x + 1"),
    "hasattr of a tensor": Case("if hasattr(x, 'shape'):\n    x = x + 1\nreturn x"),
    "hasattr of the module": Case("if hasattr(self, 'gone'):\n    x = x + 1\nreturn x"),
    "getattr of the module": Case("return x * getattr(self, 'gone', 2)"),
    "type of the module": Case("if type(self).__name__ == 'Net':\n    x = x + 1\nreturn x"),
    "callable of a layer": Case("if callable(self.a):\n    x = self.a(x)\nreturn x", "self.a = nn.ReLU()"),
    "a dtype that is another": Case("if x.dtype is torch.float16:\n    x = x + 1\nreturn x * 2"),
    "a dtype that is handed on": Case("return x + torch.ones(4, dtype=torch.float32).to(x.dtype)"),
    "print": Case("print(f'{x.shape}', x)\nprint('shape:', x.shape, str(x.dtype))\nreturn x"),
    "logging": Case(
        "log.debug('%s %s', x.shape, x)\nlog.info(f'{x.shape}')\nreturn x",
        top="import logging\nlog = logging.getLogger(__name__)",
    ),
    "warnings": Case("warnings.warn(f'{x.shape}')\nreturn x", top="import warnings"),
    "text of configuration": Case("return getattr(self, f'layer{self.n}')(x)", "self.n = 3\nself.layer3 = nn.ReLU()"),
    "a raise that is not reached": Case(
        "if self.n > 5:\n    raise ValueError(f'{x.shape}')\nreturn x + 1", "self.n = 3"
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_tests_and_texts_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
