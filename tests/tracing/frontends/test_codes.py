"""Problem codes of what torch.export and torch.compile refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fxlsp.report.frontend_codes import (
    BREAK_AT_CODE,
    BREAK_AT_VALUE,
    COMPILE_FAILS,
    EXPORT_BRANCH,
    EXPORT_FAILS,
    EXPORT_FIXED,
    EXPORT_NUMBER,
    EXPORT_UNSUPPORTED,
)
from fxlsp.report.frontends import FrontendVerdict
from tests.support.worker import Worker
from tests.tracing.frontends.asking import BRANCH, BRANCH_ON_CALL, EVEN, FIXED, MODEL, verdict

pytestmark = pytest.mark.filterwarnings("default")
"""As in the other tests of front ends."""

EITHER = MODEL.format(statement="y = (y + 1) if (x > 0).all() and y.shape[0] else y")
WHILE = MODEL.format(statement="\n        while y.sum() > 0:\n            y = y - 1")
COUNTED = MODEL.format(statement="for _ in range(int(y.sum())): y = y + 1")
FAILING = MODEL.format(statement="y = torch.cat([y, x], 0)")
SPLIT = MODEL.format(statement="torch._dynamo.graph_break(); y = y + 1")
OPTIONS = MODEL.replace("(self, x)", "(self, x, options)").format(statement="y = y * options.scale")
OPTIONS += "\nclass Options:\n    scale = 2.0\n"
NEGATED = MODEL.format(statement="flag = not y.any(); y = y + flag")
GUARDED = MODEL.format(statement="\n        match y.dim():\n            case _ if y.sum() > 0: y = y + 1")
IN_BRANCH = MODEL.format(
    statement="y = torch.cond(y.sum() > 0, lambda y: y + 1 if y.sum() > 1 else y + 2, lambda y: y + 3, (y,))"
)
RESULT = MODEL.format(statement="y = Out(y)") + "\nclass Out:\n    def __init__(self, y): self.y = y\n"
ARRAY = MODEL.format(statement="y = y * y.detach().numpy().mean()")
NOT_WRITTEN = MODEL.format(statement="self.later(y)") + "    def later(self, y): raise NotImplementedError('mode 3')\n"
ON_DEVICE = MODEL.format(statement="y = y.to('cuda')")
WRITING = MODEL.format(statement="open('/out.txt', 'w')")


def codes(found: FrontendVerdict) -> list[str | None]:
    return [problem.code for problem in found.problems]


@pytest.mark.parametrize(
    ("model", "code"),
    [
        (BRANCH, EXPORT_BRANCH),
        (BRANCH_ON_CALL, EXPORT_BRANCH),
        (EITHER, EXPORT_BRANCH),
        (WHILE, EXPORT_BRANCH),
        (NEGATED, EXPORT_BRANCH),
        (GUARDED, EXPORT_BRANCH),
        (COUNTED, EXPORT_NUMBER),
        (RESULT, EXPORT_UNSUPPORTED),
        (ARRAY, EXPORT_UNSUPPORTED),
        (NOT_WRITTEN, EXPORT_FAILS),
        (FIXED, EXPORT_FIXED),
        (FAILING, EXPORT_FAILS),
    ],
    ids=[
        "branch",
        "branch on a call",
        "conditional expression",
        "while",
        "not",
        "guard",
        "count",
        "result",
        "array",
        "not implemented",
        "fixed",
        "failing",
    ],
)
def test_what_export_refuses_has_the_code_of_what_one_does_about_it(
    model: str, code: str, worker: Worker, write: Callable[..., str]
) -> None:
    assert codes(verdict(worker, write(model), "export")) == [code]


def test_a_branch_inside_of_a_branch_that_the_graph_can_hold_is_one_at_a_value(
    worker: Worker, write: Callable[..., str]
) -> None:
    (code,) = codes(verdict(worker, write(IN_BRANCH), "export"))
    assert code in (EXPORT_BRANCH, EXPORT_NUMBER)


# torch.export follows the model with tensors that may be on any device.
@pytest.mark.parametrize(
    ("model", "frontend"),
    [(ON_DEVICE, "compile"), (WRITING, "compile"), (WRITING, "export")],
    ids=["device", "refused while compiled", "refused while exported"],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has the device")
def test_a_failure_for_want_of_what_the_machine_has_not_or_fxlsp_keeps_says_so(
    model: str, frontend: str, worker: Worker, write: Callable[..., str]
) -> None:
    problem = verdict(worker, write(model), frontend).problems[-1]
    assert problem.is_of_machine, problem.message
    failing = verdict(worker, write(FAILING), frontend).problems[-1]
    assert not failing.is_of_machine


def test_an_input_that_no_exported_program_has_is_unsupported(worker: Worker, write: Callable[..., str]) -> None:
    found = verdict(worker, write(OPTIONS), "export", "torch.randn(2, 8), Options()")
    assert (found.verdict, codes(found)) == ("problem", [EXPORT_UNSUPPORTED])


def test_a_batch_that_is_limited_has_the_code_of_a_fixed_one(worker: Worker, write: Callable[..., str]) -> None:
    found = verdict(worker, write(EVEN), "export", "torch.randn(4, 8)")
    # Some versions of torch take every batch here.
    assert codes(found) == ([] if found.batch == "dynamic" else [EXPORT_FIXED])


@pytest.mark.parametrize(
    ("model", "code"),
    [(BRANCH, BREAK_AT_VALUE), (WHILE, BREAK_AT_VALUE), (SPLIT, BREAK_AT_CODE), (FAILING, COMPILE_FAILS)],
    ids=["branch", "while", "forced", "failing"],
)
def test_what_compile_finds_has_the_code_of_what_one_does_about_it(
    model: str, code: str, worker: Worker, write: Callable[..., str]
) -> None:
    assert set(codes(verdict(worker, write(model), "compile"))) == {code}


def test_a_front_end_that_cannot_be_asked_has_no_code_of_its_own(worker: Worker, write: Callable[..., str]) -> None:
    disabled = "import torch._dynamo\ntorch._dynamo.config.disable = True\n"
    assert codes(verdict(worker, write(disabled + BRANCH), "compile")) == [None]
