"""Failures for workers that died: messages and locations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fxlsp.engine.connection import crash_failures
from fxlsp.engine.connection.crash_failures import crash_failure, crash_verdict, describe_exit
from fxlsp.report.codes import DIED
from fxlsp.report.frontend_codes import EXPORT_DIED
from fxlsp.report.locations import Location
from fxlsp.wire.messages import Limits, StackFrame, TraceRequest, TraceTarget, WorkerDied

TEXT = "class Net:\n    def forward(self, x):\n        while True: pass  # 'for ever'\n"


def request(file: str = "/project/net.py", roots: tuple[str, ...] = ("/project",)) -> TraceRequest:
    target, texts = TraceTarget("Net", file), {"/project/net.py": TEXT}
    return TraceRequest(target, texts=texts, roots=roots, limits=Limits(seconds=10, megabytes=500))


def died(**fields: Any) -> WorkerDied:
    return WorkerDied(1, **fields)


def frame(file: str, line: int = 3, function: str = "forward") -> StackFrame:
    return StackFrame(file, line, function)


WARNING = "/torch/functions.py:12: UserWarning: it cannot follow this.\nUse another function.\n  warnings.warn(text)\n"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (died(limit="time", stage="trace"), "Tracing Net did not finish within 10 s (stopped while tracing)"),
        (died(limit="memory"), "Tracing Net took more than 500 MB of memory"),
        (died(exit=3, signal=None), "The process that traced Net ended itself with exit code 3"),
        (died(signal=11, stage="load"), "ended in a segmentation fault (SIGSEGV) (stopped while loading)"),
        (died(signal=6, stderr_tail="a\nfree(): invalid\n"), "an abort (SIGABRT). Its last output: free(): invalid"),
        (died(exit=3, stderr_tail=f"done\n{WARNING}"), "exit code 3. Its last output: done"),
        (died(exit=3, stderr_tail=f"{WARNING}the end\n"), "Its last output: the end"),
        (died(signal=99), "ended in signal 99"),
    ],
)
def test_the_message_says_what_happened(message: WorkerDied, words: str) -> None:
    failure = crash_failure(message, request())
    assert words in failure.message
    assert (failure.code, failure.target, failure.location) == (DIED, "/project/net.py:Net", None)


@pytest.mark.parametrize(
    ("limit", "words"), [("time", "did not finish within 10 s"), ("memory", "took more than 500 MB of memory")]
)
def test_a_search_that_a_limit_ends_is_no_warning(limit: Any, words: str) -> None:
    failure = crash_failure(died(limit=limit, stage="search"), request())
    assert failure.message.endswith(f"{words} (stopped while searching arguments and inputs)")
    assert failure.severity == "info"
    assert failure.needs == f"a recipe, since the search for one {words}"


@pytest.mark.parametrize("fields", [{"limit": "memory", "stage": "trace"}, {"limit": "processes", "stage": "search"}])
def test_what_else_a_limit_ends_is_a_warning(fields: dict[str, Any]) -> None:
    failure = crash_failure(died(**fields), request())
    assert (failure.severity, failure.needs) == ("warning", None)


def test_a_warning_is_not_the_last_output() -> None:
    failure = crash_failure(died(exit=3, stderr_tail=f"{WARNING}{WARNING}"), request())
    assert failure.message.endswith("exit code 3")


@pytest.mark.parametrize(
    ("reason", "last"),
    [
        ("terminate called after throwing an instance of 'X'\n  what():  bad_alloc\n", "what():  bad_alloc"),
        ('Fatal Python error: Aborted\n\n  File "net.py", line 3 in forward\n', 'File "net.py", line 3 in forward'),
    ],
    ids=["C++", "Python"],
)
def test_what_follows_the_line_of_a_warning_is_the_last_output(reason: str, last: str) -> None:
    failure = crash_failure(died(signal=6, stderr_tail=f"{WARNING}{reason}"), request())
    assert failure.message.endswith(f". Its last output: {last}")


def test_a_warning_that_indents_its_own_words_is_not_the_last_output() -> None:
    warning = WARNING.replace("Use another", "Use:\n  another")
    failure = crash_failure(died(exit=3, stderr_tail=f"done\n{warning}"), request())
    assert failure.message.endswith("Its last output: done")


def test_the_place_is_the_code_of_the_innermost_line_of_the_workspace() -> None:
    inner = frame("/project/.venv/lib/site-packages/torch/nn.py")
    stack = (frame("/usr/lib/python3.11/ctypes.py"), inner, frame("/project/net.py"), frame("/project/net.py", 1))
    failure = crash_failure(died(limit="time", stage="trace", stack=stack), request())
    assert failure.location == Location("/project/net.py", 3, 9, 3, 25, "forward")
    assert failure.message.endswith("(stopped in forward, while tracing)")


def test_code_outside_functions_is_at_top_level() -> None:
    stack = (frame("/project/net.py", 1, "<module>"),)
    failure = crash_failure(died(limit="time", stage="load", stack=stack), request())
    assert failure.message.endswith("(stopped at top level, while loading)")


def test_outside_the_workspace_it_is_the_innermost_line_of_what_is_not_installed(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("\n\n    x = 1\n")
    stack = (frame("/lib/site-packages/torch/nn.py"), frame(str(file)))
    failure = crash_failure(died(signal=9, stack=stack), request(str(file)))
    assert failure.location == Location(str(file), 3, 5, 3, 10, "forward")


@pytest.mark.parametrize(
    "library", ["/usr/lib/python3.13/selectors.py", r"C:\Python313\Lib\selectors.py", "/x/dist-packages/numpy/core.py"]
)
def test_no_place_is_in_python_or_in_fxlsp(library: str) -> None:
    stack = (frame(library), frame(crash_failures.__file__), frame("<string>"))
    assert crash_failure(died(signal=9, stack=stack), request()).location is None


def test_a_file_that_is_gone_still_has_a_line() -> None:
    failure = crash_failure(died(signal=9, stack=(frame("/project/gone.py", 7),)), request())
    assert failure.location == Location("/project/gone.py", 7, 1, 7, 2, "forward")


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (-9, "SIGKILL, as when the system runs out of memory"), (None, "unknown")]
)
def test_an_exit_code_has_words(code: int | None, words: str) -> None:
    assert words in describe_exit(code)


@pytest.mark.parametrize(
    ("message", "verdict", "summary", "words"),
    [
        (died(limit="time"), "timeout", "ran out of time", "Exporting Net did not finish within 10 s"),
        (died(exit=3), "crashed", "crashed", "The process that exported Net ended itself with exit code 3"),
        (
            died(signal=9, limit="memory"),
            "limit",
            "took too much memory",
            "Exporting Net took more than 500 MB of memory",
        ),
        (
            died(limit="processes"),
            "limit",
            "started too many processes",
            "Exporting Net started more than 32 processes",
        ),
        (
            died(limit="written"),
            "limit",
            "wrote too many temporary files",
            "Exporting Net wrote more than 1024 MB of temporary files",
        ),
    ],
    ids=["time", "exit", "memory", "processes", "written"],
)
def test_the_death_of_a_front_end_is_its_verdict(message: WorkerDied, verdict: str, summary: str, words: str) -> None:
    failure = crash_failure(message, replace(request(), frontend="export"))
    found = crash_verdict(message, "export", failure)
    assert (found.frontend, found.verdict, found.summary) == ("export", verdict, summary)
    assert [problem.message for problem in found.problems] == [words]
    assert [problem.code for problem in found.problems] == [EXPORT_DIED]
