"""Assertions and choices that depend on traced values become nodes, where that means the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import HEAD, assert_it_traces, changed, fixed, net, offered

CODE = "FX101"


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("assert «x.shape[1] == 4»", 'torch._assert(x.shape[1] == 4, "")'),
        ("assert «x.dim() == 2», 'two dimensions'  # why", "torch._assert(x.dim() == 2, 'two dimensions')  # why"),
        ("assert(«x.sum() == x.sum()»), 'größer'", "torch._assert((x.sum() == x.sum()), 'größer')"),
        (
            "assert (\n    «x.shape[1]\n    == 4»  # four\n), (\n    'no'\n)",
            "torch._assert((\n    x.shape[1]\n    == 4  # four\n), (\n    'no'\n))",
        ),
        ("assert «x.size(1)» \\\n    == 4, 'é'", "torch._assert(x.size(1) \\\n    == 4, 'é')"),
        ("assert «torch.isfinite(x).all()»; y = x", 'torch._assert(torch.isfinite(x).all(), ""); y = x'),
        ("«assert x.shape == (2, 4), 'no'»", "torch._assert(x.shape == (2, 4), 'no')"),
        ("if True: assert «x.ndim == 2», 'no'", "if True: torch._assert(x.ndim == 2, 'no')"),
    ],
)
def test_an_assertion_becomes_a_node(statement: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("self.a = nn.Linear(4, 8)", f"{statement}\nreturn self.a(x)")
    expected = net("self.a = nn.Linear(4, 8)", f"{after}\nreturn self.a(x)")
    assert fixed(text, CODE) == expected
    assert_it_traces(worker, write, text, expected)


def test_a_message_of_values_is_kept_and_said_to_be_made_while_tracing(worker: Any, write: Callable[..., str]) -> None:
    text = net("self.a = nn.Linear(4, 8)", "assert   «x.dim() == 2», f'is {x.shape!r}'\nreturn self.a(x)")
    (fix,) = offered(text, CODE)
    assert not fix.preferred
    after = fixed(text, CODE)
    assert after == changed(
        text, ("assert   x.dim() == 2, f'is {x.shape!r}'", "torch._assert(x.dim() == 2, f'is {x.shape!r}')")
    )
    assert_it_traces(worker, write, text, after, allowed=frozenset({"FX303"}))


@pytest.mark.parametrize(
    "statement",
    [
        "assert not «x.any()»",
        "assert «x.sum() > 0» and x.dim() == 2",
        "assert «0 < x.dim()» < 3",
        "assert «x.dim() in (2, 3)»",
        "assert all(«n > 0» for n in x.shape)",
        "assert «x.dim() == 2», f'{x.sum():.2f}'",
        "assert «x.dim() == 2», explain(x)",
    ],
)
def test_an_assertion_that_would_still_ask_for_truth_is_left_alone(statement: str) -> None:
    assert fixed(net("", f"{statement}\nreturn x"), CODE) is None


@pytest.mark.parametrize(
    ("imports", "after", "name"),
    [
        ("from torch import nn", "import torch\nfrom torch import nn", "torch._assert"),
        ("import torch as th\nfrom torch import nn", "import torch as th\nfrom torch import nn", "th._assert"),
        ('"""Doc."""\nimport torch.nn as nn', '"""Doc."""\nimport torch.nn as nn\nimport torch', "torch._assert"),
        ("from torch import _assert, nn", "from torch import _assert, nn", "_assert"),
    ],
)
def test_torch_is_imported_where_it_is_not(
    imports: str, after: str, name: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("self.a = nn.Linear(4, 8)", "assert «x.dim() == 2», 'no'\nreturn self.a(x)", f"{imports}\n\n\n")
    fixed_text = net("self.a = nn.Linear(4, 8)", f"{name}(x.dim() == 2, 'no')\nreturn self.a(x)", f"{after}\n\n\n")
    assert fixed(text, CODE) == fixed_text
    assert_it_traces(worker, write, text, fixed_text)


@pytest.mark.parametrize(
    ("forward", "after"),
    [
        ("x = x * 2 if «x.sum() > 0» else -x\nreturn x", "x = torch.where(x.sum() > 0, x * 2, -x)\nreturn x"),
        ("return x.relu() if not «(x > 3).any()» else x", "return torch.where((x > 3).any(), x, x.relu())"),
        (
            "if «x.mean() < self.limit»:\n    y = torch.sigmoid(x)\nelse:\n    y = x\nreturn y + 1",
            "y = torch.where(x.mean() < self.limit, torch.sigmoid(x), x)\nreturn y + 1",
        ),
        ("if «x.sum() > 0»:\n    return x * 2\nelse:\n    return x", "return torch.where(x.sum() > 0, x * 2, x)"),
        (
            "if «x.sum() > 0»:\n    return x * 2\nreturn x  # as is",
            "return torch.where(x.sum() > 0, x * 2, x)  # as is",
        ),
        ("if «x.sum() > 0»:\n    x = x / x.abs()\nreturn x", "x = torch.where(x.sum() > 0, x / x.abs(), x)\nreturn x"),
        (
            "total = x.sum()\nis_large = total > 100\nreturn (\n    x * 2\n    if «is_large»\n    else x\n)",
            "total = x.sum()\nis_large = total > 100\nreturn (\n    torch.where(is_large, x * 2, x)\n)",
        ),
        (
            "return torch.relu(x if «torch.any(x > 0)» else -x) + 1",
            "return torch.relu(torch.where(torch.any(x > 0), x, -x)) + 1",
        ),
        (
            "if «(x.sum() > 0) & (x.max() < 9)»: x = x + 1\nreturn x",
            "x = torch.where((x.sum() > 0) & (x.max() < 9), x + 1, x)\nreturn x",
        ),
        (
            "é = x\nif «é.sum() - 1 >= -2.5»: é = é.exp()\nreturn é",
            "é = x\né = torch.where(é.sum() - 1 >= -2.5, é.exp(), é)\nreturn é",
        ),
    ],
)
def test_a_choice_of_tensors_becomes_where(forward: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    text, expected = net("self.limit = 0.5", forward), net("self.limit = 0.5", after)
    assert fixed(text, CODE) == expected
    assert [fix.preferred for fix in offered(text, CODE)] == [True]
    assert_it_traces(worker, write, text, expected)


@pytest.mark.parametrize(
    ("condition", "after"),
    [
        ("x.sum().item() > 0.5", "x.sum() > 0.5"),
        ("(x.sum() - 1).item() > 0.5", "(x.sum() - 1) > 0.5"),
        ("0.5 < float(x.sum()) - x.max().item()", "0.5 < x.sum() - x.max()"),
        ("bool((x > 0).any())", "(x > 0).any()"),
    ],
)
def test_a_number_of_a_condition_is_left_a_tensor(
    condition: str, after: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", f"return x * 2 if «{condition}» else x")
    (fix,) = offered(text, CODE)
    assert not fix.preferred
    expected = net("", f"return torch.where({after}, x * 2, x)")
    assert fixed(text, CODE) == expected
    assert_it_traces(worker, write, text, expected)


@pytest.mark.parametrize(
    "condition",
    ["n > 0", "x.item() > 0", "int(x.sum()) > 0", "x.sum().item() > x.shape[0]", "float(x.shape[0]) > x.sum()"],
)
def test_a_number_that_is_no_tensor_without_dimensions_is_left_alone(condition: str) -> None:
    assert offered(net("", f"n = x.sum().item()\nreturn x * 2 if «{condition}» else x"), CODE) == []


def test_tabs_and_line_ends_stay_as_they_are() -> None:
    text = (
        "import torch\r\nfrom torch import nn\r\nclass Net(nn.Module):\r\n\tdef forward(self, x):\r\n"
        "\t\tif «x.sum() > 0»:\r\n\t\t\tx = x + 1\r\n\t\telse:\r\n\t\t\tx = -x\r\n\t\treturn x\r\n"
    )
    lines = "if x.sum() > 0:\r\n\t\t\tx = x + 1\r\n\t\telse:\r\n\t\t\tx = -x\r\n"
    assert fixed(text, CODE) == changed(text, (lines, "x = torch.where(x.sum() > 0, x + 1, -x)\r\n"))


def test_sides_whose_shapes_are_not_known_are_offered_with_a_warning(worker: Any, write: Callable[..., str]) -> None:
    text = net("", "a, b = x.chunk(2, 1)\nreturn a if «x.sum() > 0» else b")
    (fix,) = offered(text, CODE)
    assert not fix.preferred
    assert fix.title.endswith("they must have one shape and dtype")
    after = fixed(text, CODE)
    assert after == changed(text, ("a if x.sum() > 0 else b", "torch.where(x.sum() > 0, a, b)"))
    assert_it_traces(worker, write, text, after)


@pytest.mark.parametrize(
    "forward",
    [
        "return x * 2 if «x.shape[0] > 2» else x",
        "return x * 2 if «x.dim() == 2» else x",
        "return x * 2 if «x.size(0) > 1» else x",
        "n = x.shape[0]\nreturn x * 2 if «n > 2» else x",
        "return x * 2 if «x.sum()» else x",
        "return x * 2 if «x.sum(1) > 0» else x",
        "return x * 2 if «x > 0» else x",
        "return x * 2 if «x.sum() > 0» and self.flag else x",
        "return x * 2 if 0 < «x.sum()» < 1 else x",
        "return self.a(x) if «x.sum() > 0» else x",
        "return x.add_(1) if «x.sum() > 0» else x",
        "return torch.rand_like(x) if «x.sum() > 0» else x",
        "return x if «x.sum() > 0» else None",
        "return x if «x.sum() > 0» else 0",
        "return (x, x) if «x.sum() > 0» else (x, -x)",
        "n = x.shape[0] if «x.sum() > 0» else x.shape[1]\nreturn x * n",
        "if «x.sum() > 0»:\n    x = x * 2  # twice\nelse:\n    x = -x\nreturn x",
        "if «x.sum() > 0»:\n    x = x * 2\n    x = x + 1\nelse:\n    x = -x\nreturn x",
        "if «x.sum() > 0»:\n    x = x * 2\nelse:\n    y = -x\nreturn x",
        "if «x.sum() > 0»:\n    y = x * 2\nreturn x",
        "if self.flag:\n    pass\nelif «x.sum() > 0»:\n    x = x * 2\nelse:\n    x = -x\nreturn x",
        "if «x.sum() > 0»:\n    x = x * 2\nelif self.flag:\n    x = -x\nreturn x",
        "while «x.sum() > 0»:\n    x = x - 1\nreturn x",
        "x = x.relu() if self.a else (x if self.flag and «x.sum() > 0» else -x)\nreturn x",
    ],
)
def test_a_choice_that_where_would_make_otherwise_is_left_alone(forward: str) -> None:
    assert offered(net("self.a = nn.Linear(4, 4)", forward), CODE) == []


def test_a_choice_in_the_chosen_side_is_its_own(worker: Any, write: Callable[..., str]) -> None:
    forward = "return x if «x.sum() > 0» else (-x if x.max() > 1 else x * 2)"
    text = net("", forward)
    assert offered(text, CODE) == []
    inner = net("", "return x if x.sum() > 0 else (-x if «x.max() > 1» else x * 2)")
    assert fixed(inner, CODE) == changed(inner, ("-x if x.max() > 1 else x * 2", "torch.where(x.max() > 1, -x, x * 2)"))


def test_text_that_does_not_parse_has_no_fix_but_to_be_ignored() -> None:
    assert offered(HEAD + "assert «x > 0», (\n", CODE) == []
