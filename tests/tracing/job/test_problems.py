"""Each error of a model becomes one problem, at its location, with torch's message."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe


def only(problems: tuple[Problem, ...]) -> Problem:
    (problem,) = problems
    return problem


MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(width, 2)

    def forward(self, x):
        y = self.a(x)
        z = self.b(y)
        return z + y.sum()
"""


def test_a_shape_error_is_located_at_the_call_and_the_rest_runs(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(MODEL) + ":Net", "Net(width=9)", "torch.randn(3, 4)")
    problem = only(report.problems)
    assert problem.code == "FX401"
    assert problem.severity == "error"
    assert "mat1 and mat2 shapes cannot be multiplied (3x8 and 9x2)" in problem.message
    assert problem.location is not None
    assert problem.location.line == 13
    outputs = {node.name: node.output for node in report.nodes}
    assert problem.message.startswith("layer `b` takes 9 features, got 8\n")
    assert outputs["b"] == {"shape": [3, 2], "dtype": "float32"}
    assert outputs["sum_1"] == {"shape": [], "dtype": "float32"}
    assert outputs["add"] == {"shape": [3, 2], "dtype": "float32"}
    assert [node.name for node in report.nodes if node.assumed] == ["b", "add", "output"]
    assert report.verdict.traceable
    assert not report.complete


def test_control_flow_on_a_tensor_is_located_at_the_condition(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("        return z", "        if y.sum() > 0:\n            z = z * 2\n        return z")
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)")
    problem = only(report.problems)
    assert not report.verdict.traceable
    assert report.verdict.error is not None
    assert report.verdict.error.type == "TraceError"
    assert problem.code == "FX101"
    assert "cannot be used as inputs to control flow" in problem.message
    assert problem.location is not None
    assert problem.location.line == 14
    if sys.version_info >= (3, 11):
        assert (problem.location.column, problem.location.end_column) == (12, 23)
    assert [node.name for node in report.nodes][:5] == ["x", "a", "b", "sum_1", "gt"]
    assert report.nodes[-1].output is not None
    assert report.nodes[1].output == {"shape": [3, 8], "dtype": "float32"}


def test_an_output_that_fx_cannot_record_is_located_at_the_return(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("return z + y.sum()", "return {z}")
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)")
    problem = only(report.problems)
    assert report.verdict.error is not None
    assert report.verdict.error.location is None
    assert problem.code == "FX111"
    assert problem.location is not None
    assert problem.location.line == 14


def test_an_unregistered_module_is_named_by_its_call(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("        self.b = nn.Linear(width, 2)", "        self.bs = [nn.Linear(width, 2)]")
    text = text.replace("self.b(y)", "self.bs[0](y)")
    problems = worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)").problems
    lines = {problem.code: problem.location.line for problem in problems if problem.location is not None}
    assert lines == {"FX601": 9, "FX201": 13}


def test_inputs_that_do_not_fit_leave_the_graph_without_shapes(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(MODEL) + ":Net", "Net()", "torch.randn(3, 4), torch.randn(1)")
    problem = only(report.problems)
    assert problem.code == "FX904"
    assert "too many positional arguments" in problem.message
    assert report.verdict.traceable
    assert [node.output for node in report.nodes] == [None] * 6


def test_without_inputs_the_graph_is_there_and_its_shapes_unknown(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("def forward(self, x):", "def forward(self, x):\n        x = x.method_that_no_input_has()")
    report = worker.report(write(text) + ":Net")
    assert report.problems == ()
    assert report.recipe == Recipe("Net()", None, "default")
    names = ["x", "method_that_no_input_has", "a", "b", "sum_1", "add", "output"]
    assert [node.name for node in report.nodes] == names
    assert not report.complete


@pytest.mark.parametrize(
    ("text", "init", "code", "words", "line"),
    [
        ("def f(:\n    pass\n", None, "FX901", "SyntaxError", 1),
        (
            "import torch\nimport no_such_package\nclass Net(no_such_package.M): pass\n",
            None,
            "FX901",
            "no_such_package",
            2,
        ),
        ("x = 1\ny = x / 0\nclass Net: y = y\n", None, "FX901", "ZeroDivisionError", 2),
        ("class Other: pass\n", None, "FX902", "there is no Net", None),
        ("class Nte: pass\n", None, "FX902", "; did you mean Nte?", None),
        ("def net(): pass\n", None, "FX902", "; did you mean net?", None),
        ("class Net: pass\n", None, "FX903", "not a subclass of torch.nn.Module", 1),
        (MODEL, "Net(widht=3)", "FX903", "unexpected keyword argument 'widht'", None),
        (MODEL.replace("width, 2", "-1, 2"), None, "FX903", "negative", 9),
        (
            MODEL.replace("width=8", "width").replace("Linear(", "Linear({}[width], "),
            None,
            "FX903",
            "needs the argument width",
            5,
        ),
        (MODEL, "Net(", "FX903", "SyntaxError", None),
        (MODEL, "3", "FX903", "makes a int", None),
        (MODEL + "raise SystemExit(3)\n", None, None, "", None),
        ("import sys\nclass Net:\n    sys.exit(3)\n", None, "FX901", "SystemExit", 3),
    ],
)
def test_a_model_that_cannot_be_had_is_one_clear_failure(
    text: str, init: str | None, code: str | None, words: str, line: int | None, worker: Any, write: Callable[..., str]
) -> None:
    message = worker.answer(write(text) + ":Net", init)
    if code is None:
        assert message["type"] == "report"
        return
    failure = Failure.from_json(message["failure"])
    assert (failure.code, failure.location and failure.location.line) == (code, line), failure
    assert words in failure.message


ATTENTION = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=96, heads=5, groups=4, path=None):
        super().__init__()
        {made}

    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("text", "init", "severity"),
    [
        (ATTENTION.format(made="self.a = nn.MultiheadAttention(width, heads)"), None, "error"),
        (ATTENTION.format(made="self.a = nn.MultiheadAttention(width, heads)"), "Net(64)", "error"),
        (ATTENTION.format(made="self.a = nn.Conv2d(3, width, 3, groups=groups)"), None, "error"),
        (ATTENTION.format(made="raise ValueError('no device')"), None, "warning"),
        (ATTENTION.format(made="self.a = open('no_such_file').read()"), None, "warning"),
        ("class Net(:\n    pass\n", None, "error"),
        ("import no_such_package\nclass Net(no_such_package.M): pass\n", None, "warning"),
    ],
)
def test_what_no_arguments_mend_is_an_error(
    text: str, init: str | None, severity: str, worker: Any, write: Callable[..., str]
) -> None:
    failure = Failure.from_json(worker.answer(write(text) + ":Net", init)["failure"])
    assert failure.severity == severity, failure


@pytest.mark.parametrize(
    ("target", "meant"),
    [("torch.nn:Liner", "Linear"), ("{}:Outer.Iner", "Outer.Inner"), ("{}:Oter.Inner", None), ("torch.nn:Qqqq", None)],
)
def test_a_model_that_is_not_there_names_the_one_that_is_meant(
    target: str, meant: str | None, worker: Any, write: Callable[..., str]
) -> None:
    path = write("class Outer:\n    class Inner: pass\n")
    failure = Failure.from_json(worker.answer(target.format(path))["failure"])
    assert failure.code == "FX902"
    assert failure.message.partition("; did you mean ")[2] == ("" if meant is None else f"{meant}?")


def test_a_missing_file_is_a_clear_failure(worker: Any) -> None:
    failure = Failure.from_json(worker.answer("/nowhere/model.py:Net")["failure"])
    assert failure.code == "FX901"
    assert "there is no file /nowhere/model.py" in failure.message


def test_a_missing_package_costs_only_the_models_that_use_it(worker: Any, write: Callable[..., str]) -> None:
    path = write("import no_such_package\n" + MODEL)
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(3, 4)").complete


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("y.transpose(1, 2).view(2, 12)", "view size is not compatible"),
        ("self.weight.add_(1)", "a leaf Variable that requires grad is"),
    ],
)
def test_an_operation_that_fails_for_its_operands_memory_or_gradient_is_a_problem(
    call: str, words: str, worker: Any, write: Callable[..., str]
) -> None:
    text = f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4))

            def forward(self, x):
                y = x * self.weight
                y += 1
                return {call}
        """
    problem = only(worker.report(write(text) + ":Net", "Net()", "torch.randn(2, 3, 4)").problems)
    assert problem.code == "FX401"
    assert words in problem.message
    assert problem.location is not None
    assert problem.location.line == 13


def test_iteration_over_a_traced_value_is_not_control_flow(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("        z = self.b(y)", "        for row in y:\n            pass\n        z = self.b(y)")
    problem = only(worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)").problems)
    assert problem.code == "FX102"
    assert problem.location is not None
    assert problem.location.line == problem.location.end_line == 13


def test_what_runs_without_gradients_is_no_problem(worker: Any, write: Callable[..., str]) -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4))

            def forward(self, x):
                with torch.no_grad():
                    self.weight.mul_(0.9)
                y = x * self.weight
                return y.transpose(0, 1).add_(1)
        """
    assert worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)").complete


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("raise Odd", "Odd"),
        ("raise SystemExit('enough')", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
@pytest.mark.parametrize("place", ["        y = self.a(x)\n", "        super().__init__()\n"])
def test_any_exception_of_the_model_has_its_place(
    statement: str, name: str, place: str, worker: Any, write: Callable[..., str]
) -> None:
    odd = "\nclass Odd(Exception):\n    def __str__(self):\n        raise ValueError\n"
    text = MODEL.replace(place, f"{place}        {statement}\n") + odd
    line = 1 + text.split("\n").index(f"        {statement}")
    message = worker.answer(write(text) + ":Net", "Net()", "torch.randn(3, 4)")
    if message["type"] == "report":
        found = message["report"]["problems"][0]
        assert message["report"]["verdict"]["error"]["type"] == name
    else:
        found = message["failure"]["failure"]
    assert name in found["message"]
    assert found["location"]["line"] == line


@pytest.mark.parametrize(
    ("call", "fails"),
    [
        ("self.low(x)", True),
        ("x.half() @ self.low.weight.float()", True),
        ("self.low(x.half()) * x", False),
        ("self.under_autocast(x)", False),
    ],
)
def test_types_that_do_not_fit_fail(call: str, fails: bool, worker: Any, write: Callable[..., str]) -> None:
    text = f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.low = nn.Linear(4, 4).half()

            def under_autocast(self, x):
                with torch.autocast("cpu", dtype=torch.float16):
                    return self.low(x)

            def forward(self, x):
                return {call}
        """
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(4, 4)")
    failing = [problem for problem in report.problems if problem.code != "FX310"]
    assert [problem.code for problem in failing] == (["FX401"] if fails else [])
    assert all("the same dtype" in problem.message for problem in failing)


def test_an_error_before_forward_is_entered_is_located_at_its_decorator(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace("    def forward(self, x):", "    @torch.no_grad()\n    def forward(self, x, *, y=None):")
    problem, no_gradients = worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)").problems
    assert (problem.code, no_gradients.code) == ("FX112", "FX310")
    assert "varnames is too small" in problem.message  # "co_varnames" since Python 3.11
    assert problem.location is not None
    assert problem.location.line == 11


def test_instances_that_fail_at_one_expression_are_one_problem(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Branch(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(5, 2)

            def forward(self, x):
                return self.lin(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.left, self.right = Branch(), Branch()

            def forward(self, x):
                return self.left(x), self.right(x)
        """
    )
    problem = only(worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").problems)
    assert problem.module_path == "left.lin"
    assert "right.lin" in problem.message
