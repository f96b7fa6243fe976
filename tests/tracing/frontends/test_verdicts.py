"""Verdicts of torch.export and torch.compile, each compared with torch itself, and where their problems are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.support.worker import Worker
from tests.tracing.frontends.asking import (
    BRANCH,
    BRANCH_ON_CALL,
    EVEN,
    FINE,
    FIXED,
    HAS_COLUMNS,
    LINE,
    LOOP,
    MODEL,
    NUMBER,
    X,
    answer,
    compiles_whole,
    exports,
    line_of,
    lines_of_breaks,
    text_at,
    verdict,
)

pytestmark = pytest.mark.filterwarnings("default")
"""torch warns in its own code, which runs in the process of the tests too, as that of a user would."""


def test_a_model_that_every_front_end_takes(any_worker: Worker, write: Callable[..., str]) -> None:
    path = write(FINE)
    exported, compiled = verdict(any_worker, path, "export"), verdict(any_worker, path, "compile")
    assert (exported.verdict, exported.batch, exported.problems) == ("ok", "dynamic", ())
    assert exported.summary == "exports with a dynamic batch"
    assert (compiled.verdict, compiled.summary, compiled.problems) == ("ok", "compiles as one graph", ())
    assert exports(path, X, with_dynamic_batch=True)
    assert compiles_whole(path, X)


@pytest.mark.parametrize(
    ("model", "condition"), [(BRANCH, "y.sum() > 0"), (BRANCH_ON_CALL, "torch.any(y > 0)")], ids=["compared", "called"]
)
def test_a_branch_on_data_is_refused_by_export_and_splits_the_graph_of_compile(
    model: str, condition: str, worker: Worker, write: Callable[..., str]
) -> None:
    path = write(model)
    exported, compiled = verdict(worker, path, "export"), verdict(worker, path, "compile")
    assert (exported.verdict, exported.summary, exported.batch) == ("problem", "1 problem", None)
    assert (compiled.verdict, compiled.summary) == ("problem", "1 graph break")
    (refused,), (split,) = exported.problems, compiled.problems
    assert line_of(refused) == LINE
    assert line_of(split) == LINE
    if HAS_COLUMNS:
        assert text_at(path, refused) == condition
        # Older versions of torch give a line alone, on which more than the condition may be meant.
        assert text_at(path, split) in (condition, f"if {condition}: y = y + 1")
    assert refused.message.startswith(refused.headline)
    assert not exports(path, X, with_dynamic_batch=False)
    assert not compiles_whole(path, X)
    assert lines_of_breaks(path, X) == [LINE]


def test_compile_breaks_where_a_value_leaves_the_graph_which_export_takes(
    worker: Worker, write: Callable[..., str]
) -> None:
    path = write(NUMBER)
    exported, compiled = verdict(worker, path, "export"), verdict(worker, path, "compile")
    assert (exported.verdict == "ok") == exports(path, X, with_dynamic_batch=True)
    lines = lines_of_breaks(path, X)
    assert set(lines) == {LINE}
    assert {line_of(problem) for problem in compiled.problems} == {LINE}
    if HAS_COLUMNS:
        assert len(compiled.problems) in (1, len(lines))
    assert not compiles_whole(path, X)


def test_a_function_that_is_left_uncompiled_as_a_whole_counts_as_a_break(
    worker: Worker, write: Callable[..., str]
) -> None:
    path = write(LOOP)
    compiled = verdict(worker, path, "compile")
    assert (compiled.verdict, compiled.summary) == ("problem", "1 graph break")
    assert line_of(compiled.problems[0]) == LINE
    assert not compiles_whole(path, X)


def test_a_batch_that_the_code_fixes_is_named_with_the_expression_that_fixes_it(
    worker: Worker, write: Callable[..., str]
) -> None:
    path = write(FIXED)
    exported = verdict(worker, path, "export")
    assert (exported.verdict, exported.batch) == ("ok", "fixed")
    assert exported.summary == "exports, but only with the batch fixed at 2"
    (problem,) = exported.problems
    assert line_of(problem) == LINE
    if HAS_COLUMNS:
        # Versions of torch fix it at the view, or at the layer that takes its result.
        assert "x.view(2, -1)" in text_at(path, problem)
    assert not exports(path, X, with_dynamic_batch=True)
    assert exports(path, X, with_dynamic_batch=False)


def test_a_batch_of_one_is_no_reason_to_call_the_batch_fixed(worker: Worker, write: Callable[..., str]) -> None:
    assert verdict(worker, write(FINE), "export", "torch.randn(1, 8)").batch == "dynamic"
    fixed = verdict(worker, write(FIXED.replace("view(2", "view(1")), "export", "torch.randn(1, 8)")
    assert fixed.summary == "exports, but only with the batch fixed at 1"
    assert line_of(fixed.problems[0]) == LINE


def test_a_model_that_takes_even_batches_alone_has_no_fixed_batch(worker: Worker, write: Callable[..., str]) -> None:
    path = write(EVEN)
    exported = verdict(worker, path, "export", "torch.randn(4, 8)")
    x = torch.randn(4, 8)
    assert (exported.batch == "dynamic") == exports(path, x, with_dynamic_batch=True)
    assert exports(path, x, with_dynamic_batch=False)
    if exported.batch != "dynamic":
        assert (exported.verdict, exported.batch) == ("ok", "limited")
        assert exported.summary == "exports, but takes only some batches"


STATES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.GRU(8, 16, num_layers=2, batch_first=True)

    def forward(self, x, h):
        return self.a(x, h)[0]
"""


@pytest.mark.parametrize("batch", [1, 2])
def test_a_state_whose_layers_are_as_many_as_the_batch_fixes_no_batch(
    batch: int, worker: Worker, write: Callable[..., str]
) -> None:
    path = write(STATES.replace("num_layers=2", f"num_layers={batch}"))
    inputs = f"torch.randn({batch}, 10, 8), torch.zeros({batch}, {batch}, 16)"
    exported = verdict(worker, path, "export", inputs)
    assert (exported.verdict, exported.batch) == ("ok", None)
    assert exported.summary == "exports, with the sizes of its inputs"


def test_a_batch_that_only_layers_of_torch_fix_is_fixed_too(worker: Worker, write: Callable[..., str]) -> None:
    path = write(
        "import torch\nfrom torch import nn\n\n\ndef Net():\n"
        "    return nn.Sequential(nn.Linear(8, 4), nn.Flatten(0), nn.Linear(8, 4))\n"
    )
    exported = verdict(worker, path, "export")
    assert (exported.verdict, exported.batch) == ("ok", "fixed")


INSIDE = """
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), Block()

    def forward(self, x):
        return self.b(self.a(x)) + 1
"""


def test_a_branch_inside_of_a_submodule_is_one_graph_break(worker: Worker, write: Callable[..., str]) -> None:
    compiled = verdict(worker, write(INSIDE), "compile")
    assert (compiled.verdict, compiled.summary) == ("problem", "1 graph break")
    assert line_of(compiled.problems[0]) == 7


OWN_COMPILE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.compile(nn.Linear(8, 8){options})

    def forward(self, x):
        for _ in range(2):
            x = self.a(x)
            {statement}
        return x
"""


@pytest.mark.parametrize("options", ["", ", backend='aot_eager'", ", fullgraph=True"], ids=["plain", "backend", "full"])
@pytest.mark.parametrize(("statement", "breaks"), [("pass", 0), ("print(x.shape)", 1)], ids=["whole", "broken"])
def test_what_the_model_compiles_itself_is_followed_and_compiled_by_nothing(
    statement: str, breaks: int, options: str, worker: Worker, write: Callable[..., str]
) -> None:
    """Its own backend would start a compiler, which a contained process must not."""
    path = write(OWN_COMPILE.format(options=options, statement=statement))
    compiled, exported = verdict(worker, path, "compile"), verdict(worker, path, "export")
    assert [line_of(problem) for problem in compiled.problems] == [13] * breaks
    assert compiled.summary.startswith("1 graph break" if breaks else "compiles as one graph")
    assert (exported.verdict == "ok") == exports(path, X, with_dynamic_batch=False)


def test_compile_that_is_disabled_is_not_asked(worker: Worker, write: Callable[..., str]) -> None:
    disabled = "import torch._dynamo\ntorch._dynamo.config.disable = True\n"
    found = verdict(worker, write(disabled + FINE), "compile")
    assert found.verdict == "unavailable"
    assert "disabled" in found.problems[0].headline


def test_what_compile_would_suppress_is_a_problem_all_the_same(worker: Worker, write: Callable[..., str]) -> None:
    suppressed = "import torch._dynamo\ntorch._dynamo.config.suppress_errors = True\n"
    found = verdict(worker, write(suppressed + MODEL.format(statement="y = torch.cat([y, x], 0)")), "compile")
    assert found.verdict == "problem"


def test_inputs_without_a_common_first_size_are_exported_as_they_are(worker: Worker, write: Callable[..., str]) -> None:
    path = write(FINE.replace("forward(self, x)", "forward(self, x, other)").replace("relu(y)", "relu(y) + other"))
    exported = verdict(worker, path, "export", "torch.randn(2, 8), torch.randn(4)")
    assert (exported.verdict, exported.batch) == ("ok", None)
    assert exported.summary == "exports, with the sizes of its inputs"


KEPT_IN_MODEL = "self.last = y if not hasattr(self, 'last') else self.last + y; y = self.a(x.view(2, -1)) + self.last"
KEPT_IN_PACKAGE = "y = self.a(x.view(2, -1)) + vars(torch.nn).setdefault('kept', torch.arange(4.0))"


@pytest.mark.parametrize("statement", [KEPT_IN_MODEL, KEPT_IN_PACKAGE], ids=["model", "package"])
def test_what_the_first_export_leaves_behind_does_not_spoil_the_second(
    statement: str, worker: Worker, write: Callable[..., str]
) -> None:
    path = write(MODEL.format(statement=statement))
    kept = verdict(worker, path, "export")
    assert kept.batch != "dynamic"
    is_taken = exports(path, X, with_dynamic_batch=False)
    vars(torch.nn).pop("kept", None)
    assert (kept.verdict == "ok") == is_taken


def test_a_batch_is_fixed_only_if_the_model_can_be_exported_at_all(worker: Worker, write: Callable[..., str]) -> None:
    path = write(BRANCH)
    first, needs_fixed_sizes = answer(worker, path, "export", "torch.randn(2, 8)")
    assert (first.verdict, needs_fixed_sizes) == ("ok", True)
    fixed, needs_more = answer(worker, path, "export", "torch.randn(2, 8)", fixed_sizes=True)
    assert (fixed.verdict, fixed.summary, needs_more) == ("problem", "1 problem", False)


@pytest.mark.parametrize("frontend", ["export", "compile"])
def test_an_operation_that_fails_is_the_problem_at_its_expression(
    frontend: str, worker: Worker, write: Callable[..., str]
) -> None:
    path = write(MODEL.format(statement="y = torch.cat([y, x], 0)"))
    found = verdict(worker, path, frontend)
    assert found.verdict == "problem"
    assert line_of(found.problems[-1]) == LINE


@pytest.mark.parametrize("frontend", ["export", "compile"])
def test_a_process_that_ends_itself_is_a_death_and_the_next_request_is_answered(
    frontend: str, worker: Worker, write: Callable[..., str]
) -> None:
    act = "__import__('os')._exit(3) if torch.compiler.is_compiling() else None"
    path = write(MODEL.format(statement=act))
    message = worker.answer(f"{path}:Net", "Net()", "torch.randn(2, 8)", frontend=frontend)
    assert (message["type"], message["exit"], message["limit"]) == ("failed", 3, None)
    assert verdict(worker, write(FINE), frontend).verdict == "ok"


def test_a_front_end_that_hangs_ends_at_its_limit(worker: Worker, write: Callable[..., str]) -> None:
    path = write(MODEL.format(statement="while torch.compiler.is_compiling(): pass"))
    message = worker.answer(f"{path}:Net", "Net()", "torch.randn(2, 8)", frontend="export", seconds=4)
    assert (message["type"], message["limit"]) == ("failed", "time")


def test_a_file_with_slow_imports_is_asked_from_its_checkpoint_too(worker: Worker, write: Callable[..., str]) -> None:
    write("import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\none = 1\n", "slow.py")
    path = write(FINE.replace("from torch import nn", "from torch import nn\nfrom slow import one"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(2, 8)").verdict.traceable
    assert [verdict(worker, path, frontend).verdict for frontend in ("export", "compile")] == ["ok", "ok"]


def test_inputs_that_cannot_be_made_are_a_failure(worker: Worker, write: Callable[..., str]) -> None:
    message = worker.answer(f"{write(FINE)}:Net", "Net()", "torch.randn(2, missing)", frontend="export")
    assert message["type"] == "failure"
    assert "missing" in message["failure"]["failure"]["message"]
