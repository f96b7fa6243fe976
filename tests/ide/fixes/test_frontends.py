"""After a fix torch.export and torch.compile take what they refused, and the model computes the same."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
import torch

from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.source.text.positions import Span
from tests.ide.builder import document
from tests.ide.fixing import applied, fixed, model_of, net, offered
from tests.support.worker import Worker
from tests.tracing.frontends.asking import verdict

pytestmark = pytest.mark.filterwarnings("default")

PARTS = "self.a, self.b, self.drop = nn.Linear(4, 4), nn.Linear(4, 4), nn.Dropout(0.0)"
WHERE, COND = "which computes both sides", "which torch.fx refuses"
CHECK, MESSAGE = "only outside of graphs", "out of graphs"
TENSOR, BATCH = "Leave it a tensor", "Take the batch from x"

CASES = {
    "where": ("if x.sum() > 0:\n    x = x * 2\nreturn x", WHERE, "x = torch.where(x.sum() > 0, x * 2, x)\nreturn x"),
    "where of a number": (
        "return x.exp() if x.sum().item() > 0.5 else x",
        WHERE,
        "return torch.where(x.sum() > 0.5, x.exp(), x)",
    ),
    "where of a truth": (
        "if bool((x > 0).any()):\n    x = -x\nreturn x",
        WHERE,
        "x = torch.where((x > 0).any(), -x, x)\nreturn x",
    ),
    "cond of modules": (
        "if x.sum() > 0:\n    return self.a(x)\nreturn self.b(x)",
        COND,
        "return torch.cond(x.sum() > 0, lambda: self.a(x).clone(), lambda: self.b(x).clone(), ())",
    ),
    "cond without else": (
        "if not x.mean() > 0:\n    x = self.a(x)\nreturn x",
        COND,
        "x = torch.cond(x.mean() > 0, lambda: x.clone(), lambda: self.a(x).clone(), ())\nreturn x",
    ),
    "raise": (
        "if torch.isnan(x).any():\n    raise ValueError('nan')\nreturn self.a(x)",
        CHECK,
        "if not torch.compiler.is_compiling() and torch.isnan(x).any():\n    raise ValueError('nan')\nreturn self.a(x)",
    ),
    "cond of a dropout": (
        "x = self.drop(x) if x.sum() > 9 else x * 2\nreturn x",
        COND,
        "x = torch.cond(x.sum() > 9, lambda: self.drop(x).clone(), lambda: x * 2, ())\nreturn x",
    ),
    "factor": ("return x * float(x.sum())", TENSOR, "return x * x.sum().detach()"),
    "condition that is only checked": (
        "if x.sum() > 9 or x.max() > 9:\n    raise ValueError('no')\nreturn x",
        CHECK,
        "if not torch.compiler.is_compiling() and (x.sum() > 9 or x.max() > 9):\n    raise ValueError('no')\nreturn x",
    ),
    "message": (
        "print(x.shape)\nreturn self.a(x)",
        MESSAGE,
        "if not torch.compiler.is_compiling():\n    print(x.shape)\nreturn self.a(x)",
    ),
    "message of several lines": (
        "print(\n    x.shape,\n)\nreturn self.a(x)",
        MESSAGE,
        "if not torch.compiler.is_compiling():\n    print(\n        x.shape,\n    )\nreturn self.a(x)",
    ),
    "batch": ("return self.a(x.view(2, -1))", BATCH, "return self.a(x.view(x.shape[0], -1))"),
}


BY_ONE = {
    "factor": "export",
    "where of a truth": "export",
    "message": "compile",
    "message of several lines": "compile",
    "batch": "export",
}
"""Of the others both take only what was fixed, with each torch."""
ASKED = [(each, case) for case in CASES for each in ("export", "compile") if BY_ONE.get(case, each) == each]


@pytest.mark.parametrize(("frontend", "case"), ASKED)
def test_the_front_end_takes_what_was_fixed(
    frontend: str, case: str, worker: Worker, write: Callable[..., str]
) -> None:
    forward, title, after = CASES[case]
    text, expected = net(PARTS, forward), net(PARTS, after)
    problem, *_ = verdict(worker, write(text, "before.py"), frontend, "torch.randn(2, 4)").problems
    assert problem.code is not None
    assert problem.location is not None
    made = document(text)
    fixes = fixes_for(made, problem.code, Span.of(problem.location))
    (fix,) = (each for each in fixes if title in each.title)
    assert applied(made, fix) == expected
    path = write(expected, "after.py")
    again = verdict(worker, path, frontend, "torch.randn(2, 4)")
    assert (again.verdict, again.problems) == ("ok", ())
    assert again.batch == ("dynamic" if frontend == "export" else None)
    assert frontend == "export" or again.summary == "compiles as one graph"
    old, new = model_of(path, text), model_of(path, expected)
    for x in (torch.ones(2, 4), -torch.ones(2, 4), torch.randn(2, 4) * 0.1):
        torch.testing.assert_close(new(x), old(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_a_detached_tensor_computes_as_the_number_and_passes_no_gradient_on(
    dtype: torch.dtype, write: Callable[..., str]
) -> None:
    def results(factor: str) -> list[torch.Tensor]:
        text = net("", f"s = (x * 0.3).sum()\nreturn x * {factor} + 1")
        x = torch.arange(8).view(2, 4).to(dtype)
        if dtype.is_floating_point:
            x.requires_grad_()
        y = model_of(write(text), text)(x)
        if dtype.is_floating_point:
            y.sum().backward()
        return [y, *([] if x.grad is None else [x.grad])]

    number, tensor = results("s.item()"), results("s.detach()")
    assert len(number) == (2 if dtype.is_floating_point else 1)
    for one, other in zip(number, tensor, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("code", "forward", "after"),
    [
        ("FX801", "assert(«x.sum()) > 9»\nreturn x", "assert torch.compiler.is_compiling() or (x.sum()) > 9\nreturn x"),
        ("FX801", "assert«(x.sum()) > 9»\nreturn x", "assert torch.compiler.is_compiling() or (x.sum()) > 9\nreturn x"),
        ("FX801", "return(-x)if «x.sum() > 0» else x", "return torch.where(x.sum() > 0, -x, x)"),
        ("FX702", "return«(x.sum()).item()» * x", "return x.sum().detach() * x"),
        (
            "FX701",
            "s = «float(\n    x.abs()\n    .max()\n)»\nreturn x / s",
            "s = (x.abs()\n    .max()).detach()\nreturn x / s",
        ),
        (
            "FX802",
            "«print(x)»  # why\nreturn x",
            "if not torch.compiler.is_compiling():\n    print(x)  # why\nreturn x",
        ),
    ],
)
def test_a_fix_leaves_a_program_however_it_is_written(code: str, forward: str, after: str) -> None:
    ast.parse(net(PARTS, after))
    assert fixed(net(PARTS, forward), code) == net(PARTS, after)


@pytest.mark.parametrize(
    ("code", "forward"),
    [
        pytest.param("FX801", "if «self.a(x).sum() > 9»:\n    raise ValueError\nreturn x", id="a layer in a check"),
        pytest.param("FX802", "«print(self.a(x))»\nreturn x", id="a layer in a message"),
        pytest.param("FX702", "return x * «x.sum().item()»", id="another dtype"),
    ],
)
def test_a_fix_that_may_change_something_is_not_preferred(code: str, forward: str) -> None:
    assert [fix.preferred for fix in offered(net(PARTS, forward), code)] == [False]


@pytest.mark.parametrize(
    ("code", "forward"),
    [
        pytest.param("FX701", "n = «float(x.sum())»\nreturn x.view(2, int(n))", id="a number that is a size"),
        pytest.param("FX701", "return self.a(x), «x.sum().item()» * 2", id="a number beside a number"),
        pytest.param("FX701", "return x * «x.mean(1).item()»", id="a tensor with dimensions"),
        pytest.param("FX801", "if «x.sum() > 0»:\n    self.a = self.b\n    raise ValueError\nreturn x", id="an effect"),
        pytest.param("FX801", "if «x.sum() > 0»:\n    return self.a(x), x\nreturn self.b(x), x", id="two results"),
        pytest.param("FX802", "«self.parts.append(x)»\nreturn x", id="a call that changes something"),
        pytest.param("FX802", "y = x; «print(x)»\nreturn y", id="behind another statement"),
        pytest.param("FX802", '«print("""a\nb""", x)»\nreturn x', id="a text of two lines"),
        pytest.param("FX802", "print = self.parts.append\n«print(x)»\nreturn x", id="another print"),
        pytest.param("FX802", "«print(x)»; y = x\nreturn y", id="before another statement"),
        pytest.param("FX802", "y = x; \\\n    «print(x)»\nreturn y", id="behind a backslash"),
        pytest.param("FX802", "«print(y := x.sum())»\nreturn y", id="a name in a message"),
        pytest.param("FX801", "assert «(s := x.sum()) > 9»\nreturn s", id="a name in a check"),
        pytest.param(
            "FX801",
            "try:\n    if «x.sum() > 9»:\n        raise ValueError\nexcept ValueError:\n    x = -x\nreturn x",
            id="a raise that is caught",
        ),
        pytest.param("FX702", "return x * «bool(x.sum())»", id="a truth as a number"),
        pytest.param("FX801", "return x * 2 if «bool(x.sum()) > 0» else x", id="a truth that is compared"),
        pytest.param("FX801", "return self.a(x.mul_(2)) if «x.sum() > 0» else x", id="a side that changes something"),
        pytest.param("FX801", "return super().forward(x) if «x.sum() > 0» else x", id="a method of the base class"),
        pytest.param("FX702", "global G\nG = «x.sum().item()»\nreturn x * G", id="a name of others"),
        pytest.param("FX702", "return x * «float(  # scale\n    x.sum()\n)»", id="a comment"),
        pytest.param("FX702", "float = int\nreturn x * «float(x.sum())»", id="another float"),
        pytest.param("FX704", "return «self.a(x.view(2, 4) + x.view(2, 4))»", id="two batches"),
        pytest.param("FX704", "return «self.pos.expand(2, -1)»", id="a batch that is made"),
        pytest.param("FX704", "return «torch.reshape(2, -1)»", id="a batch of a module"),
        pytest.param("FX704", "return (x * 2).view(«2», -1)", id="a batch of what has no name"),
        pytest.param("FX704", "return «x.view(-1, 2)»", id="a batch that is counted"),
    ],
)
def test_what_would_mean_something_else_is_left_alone(code: str, forward: str) -> None:
    assert offered(net(PARTS, forward), code) == []
