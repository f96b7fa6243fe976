"""Sizes, helpers and ``len``: calls that torch.fx records once they are written otherwise, or wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ide.fixing import HEAD, assert_it_traces, changed, fixed, marked, net, offered


def assert_it_helps(
    worker: Any, write: Callable[..., str], text: str, after: str, form: str = "tuple", same_values: bool = True
) -> None:
    """Assert that the fix is offered and helps; or where torch refuses this form of a size, too, that it is not."""
    report = worker.report(write(marked(text)[0].text) + ":Net", "Net()", "torch.randn(2, 4)")
    refused = next(each.refused_sizes for each in report.problems if each.code in ("FX102", "FX106"))
    if form not in refused:
        assert offered(text, "FX106", refused) == offered(text, "FX106")
        assert_it_traces(worker, write, text, after, same_values=same_values)
        return
    assert offered(text, "FX106", refused) == []
    assert not worker.report(write(after) + ":Net", "Net()", "torch.randn(2, 4)").verdict.traceable


@pytest.mark.parametrize("function", ["zeros", "ones"])
@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("(n, 4)", "((n, 4))"),
        ("(n, 4, dtype=x.dtype)", "((n, 4), dtype=x.dtype)"),
        ("((n), (4))", "(((n), (4)))"),
        ("((n), (4), device=x.device)", "(((n), (4)), device=x.device)"),
        ("(\n    n,  # größe\n    4,\n)", "((\n    n,  # größe\n    4,\n))"),
        (" (n, x.shape[1],)", " ((n, x.shape[1],))"),
        ("(*x.shape)", "(x.shape)"),
        ("(*x.shape, dtype=x.dtype)", "(x.shape, dtype=x.dtype)"),
    ],
)
def test_sizes_are_passed_as_a_tuple(
    function: str, call: str, after: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", f"n = x.shape[0]\nreturn x + «torch.{function}{call}»")
    expected = net("", f"n = x.shape[0]\nreturn x + torch.{function}{after}")
    assert fixed(text, "FX106") == expected
    assert_it_helps(worker, write, text, expected, "whole" if "*" in call else "tuple")


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("expand(n, -1)", "expand((n, -1))"),
        ("new_zeros(n, 4, dtype=x.dtype)", "new_zeros((n, 4), dtype=x.dtype)"),
        ("new_ones(n, 4)", "new_ones((n, 4))"),
        ("expand(*x.shape)", "expand(x.shape)"),
    ],
)
def test_sizes_are_passed_to_a_method_of_a_buffer_as_a_tuple(
    call: str, after: str, worker: Any, write: Callable[..., str]
) -> None:
    initialisation = 'self.register_buffer("b", torch.ones(1, 4))'
    text = net(initialisation, f"n = x.shape[0]\nreturn x + «self.b.{call}»")
    expected = net(initialisation, f"n = x.shape[0]\nreturn x + self.b.{after}")
    assert fixed(text, "FX106") == expected
    assert_it_helps(worker, write, text, expected, "whole" if "*" in call else "tuple")


@pytest.mark.parametrize("function", ["empty", "rand", "randn"])
def test_every_factory_offered_traces_with_a_tuple(function: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", f"return x + «torch.{function}(x.shape[0], 4)» * 0")
    after = fixed(text, "FX106")
    assert after == changed(text, ("(x.shape[0], 4)", "((x.shape[0], 4))"))
    assert_it_helps(worker, write, text, after, same_values=False)


@pytest.mark.parametrize(("call", "form"), [("n, 4", "tuple"), ("*x.shape", "whole")])
def test_a_form_that_torch_refuses_is_not_offered(call: str, form: str) -> None:
    text = net("", f"n = x.shape[0]\nreturn x + «torch.zeros({call})»")
    assert offered(text, "FX106", (form,)) == []
    assert offered(text, "FX106", tuple({"tuple", "whole"} - {form})) == offered(text, "FX106") != []


@pytest.mark.parametrize(
    "call", ["torch.zeros((n, 4))", "torch.full(n, 4)", "torch.tensor(n, 4)", "zeros(n, 4)", "torch.zeros(*x.shape, 4)"]
)
def test_other_calls_are_left_alone(call: str) -> None:
    assert offered(net("", f"n = x.shape[0]\nreturn «{call}»"), "FX106") == []


HELPER = """\
# Keeps what is positive.
def keep(t, limit=0.0):
    if {}:
        return t * 2
    return t


"""


@pytest.mark.parametrize(
    ("imports", "after", "decorator"),
    [
        ("import torch\nfrom torch import nn", "import torch\nimport torch.fx\nfrom torch import nn", "torch.fx.wrap"),
        ("import torch\nimport torch.fx\nfrom torch import nn", None, "torch.fx.wrap"),
        ("import torch.fx\nfrom torch import nn", None, "torch.fx.wrap"),
        ("from torch import fx, nn", None, "fx.wrap"),
        ("from torch import nn\nfrom torch.fx import wrap", None, "wrap"),
        ("from torch import nn", "import torch.fx\nfrom torch import nn", "torch.fx.wrap"),
    ],
)
def test_a_helper_becomes_one_node(
    imports: str, after: str | None, decorator: str, worker: Any, write: Callable[..., str]
) -> None:
    forward = "y = keep(self.a(x), limit=self.limit)\nreturn y + 1"
    initialisation = "self.a = nn.Linear(4, 4)\nself.limit = 0.5"
    text = net(initialisation, forward, f"{imports}\n\n\n{HELPER.format('«t.sum() > limit»')}")
    helper = HELPER.format("t.sum() > limit").replace("def keep", f"@{decorator}\ndef keep")
    expected = net(initialisation, forward, f"{after or imports}\n\n\n{helper}")
    assert fixed(text, "FX101", "one node") == expected
    assert_it_traces(worker, write, text, expected)


@pytest.mark.parametrize("code", ["FX102", "FX103", "FX104", "FX105", "FX107", "FX108"])
def test_whatever_stops_torch_fx_in_a_helper_is_out_of_its_sight(code: str) -> None:
    helper = "def total(t):\n    return t * sum(«float(v)» for v in t[0])\n\n\n"
    assert fixed(net("", "return total(x)", HEAD + helper), code, "one node") is not None


@pytest.mark.parametrize(
    ("forward", "helper"),
    [
        ("if keep(x):\n    return x\nreturn -x", HELPER),
        ("return x[:int(keep(x))]", HELPER),
        ("for row in keep(x):\n    x = x + row\nreturn x", HELPER),
        ("y = keep(x)\nwhile y:\n    x = -x\nreturn x", HELPER),
        ("return keep(self)", HELPER),
        ("return keep(x, self.a)", HELPER),
        ("return keep(x, *self.rest)", HELPER),
        ("return keep(x, lambda: 1)", HELPER),
        ("return other(x)", HELPER),
        ("return keep(x)", "@decorated\n" + HELPER.removeprefix("# Keeps what is positive.\n")),
        ("return keep(x)", "if True:\n    def keep(t, limit=0.0):\n        return t if {} else -t\n\n\n"),
    ],
)
def test_a_helper_whose_call_the_graph_cannot_hold_is_not_wrapped(forward: str, helper: str) -> None:
    text = net("self.a = nn.Linear(4, 4)", forward, HEAD + helper.format("«t.sum() > limit»"))
    assert fixed(text, "FX101", "one node") is None


def test_a_method_is_not_wrapped() -> None:
    text = net("", "return self.f(x)") + "\n    def f(self, x):\n        return x if «x.sum() > 0» and x else x\n"
    assert offered(text, "FX101") == []


@pytest.mark.parametrize(
    "forward",
    [
        "return self.a(x) * «len(x)»",
        "n = «len(x)»\ny = x.sum() / n\nreturn self.a(x) + y",
        "return self.a(x).view(«len(x)», -1)",
        "return self.a(x) / math.sqrt(«len(\n    x\n)»)",
    ],
)
def test_len_is_recorded(forward: str, worker: Any, write: Callable[..., str]) -> None:
    head = '"""Maße."""\n\nimport math\nimport torch\nfrom torch import nn  # modules\n\nWIDTH = 4\n\n\n'
    text = net("self.a = nn.Linear(WIDTH, 4)", forward, head)
    after = fixed(text, "FX103")
    assert after == changed(
        text,
        ("import torch\n", "import torch\nimport torch.fx\n"),
        ("import nn  # modules\n", 'import nn  # modules\n\ntorch.fx.wrap("len")\n'),
    )
    assert_it_traces(worker, write, text, after)


@pytest.mark.parametrize(
    "forward",
    [
        "for i in range(«len(x)»):\n    x = x + i\nreturn x",
        "if «len(x)» > 2:\n    return x\nreturn -x",
        "return x if «len(x)» == 2 else -x",
        "n = «len(x)»\nreturn x[: n // 2]",
        "n = «len(x)»\nm = n - 1\nreturn x * float(m)",
        "return self.scale(x, «len(x)»)",
        "return helper(x, «len(x)»)",
        "return x * {1: 2}[«len(x)»]",
        "self.n = «len(x)»\nreturn x",
        "return x * «reversed(x)»",
    ],
)
def test_a_length_that_must_be_a_number_is_left_alone(forward: str) -> None:
    text = net("", forward) + "\n    def scale(self, x, n):\n        return x * n\n"
    assert offered(text, "FX103") == []


def test_a_len_of_the_file_s_own_is_left_alone() -> None:
    assert offered(net("", "return x * «len(x)»", HEAD + "def len(x):\n    return x\n\n\n"), "FX103") == []


@pytest.mark.parametrize(
    ("forward", "after"),
    [
        ("return «self.a.forward(x)»", "return self.a(x)"),
        ("return «self.bs[0].forward(\n    x\n)»  # é", "return self.bs[0](\n    x\n)  # é"),
        ("return («(self.bs[0])\n    .forward(x)»)", "return ((self.bs[0])\n    (x))"),
    ],
)
def test_a_module_is_called_itself(forward: str, after: str, worker: Any, write: Callable[..., str]) -> None:
    initialisation = "self.a = nn.Linear(4, 4)\nself.bs = nn.ModuleList([self.a])"
    text, expected = net(initialisation, forward), net(initialisation, after)
    assert fixed(text, "FX315") == expected
    assert_it_traces(worker, write, text, expected, did_trace=True, allowed=frozenset({"FX204"}))


@pytest.mark.parametrize(
    "forward", ["return «super().forward(x)»", "return «nn.Linear.forward(self, x)»", "return «x.forward()»"]
)
def test_a_forward_that_is_no_attribute_s_is_left_alone(forward: str) -> None:
    assert offered(net("", forward), "FX315") == []


def test_a_helper_that_another_function_asks_for_a_truth_is_not_wrapped() -> None:
    other = "def twice(t):\n    return t * 2 if keep(t) else t\n\n\n"
    helper = HELPER.format("«t.sum() > limit»")
    assert fixed(net("", "return keep(x)", HEAD + helper + other), "FX101", "one node") is None
    assert fixed(net("", "return keep(x)", HEAD + helper + "print(keep(1))\n\n"), "FX101", "one node") is not None
