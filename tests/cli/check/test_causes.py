"""Order of the causes that ``fxlsp check`` reports, and what it names as the first to mend."""

from __future__ import annotations

from collections.abc import Mapping

from fxlsp.cli.check.causes import first_steps, merge_causes, models_by_problem
from fxlsp.cli.output.problems import full_lines
from fxlsp.report.code_records import Severity
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document

MISSING = "cannot load {}: ModuleNotFoundError: No module named 'timm'"


def problem(code: str, severity: Severity, message: str, file: str, line: int, model: str) -> Problem:
    return Problem(code, severity, message, Location(file, line, 1, line, 9), model=model)


def merged(*problems: Problem, texts: Mapping[str, str] = {}) -> list[Problem]:  # never changed
    documents = {path: Document(f"file://{path}", path, None, text) for path, text in texts.items()}
    return [each.problem for each in merge_causes(problems, models_by_problem(problems), documents.get)]


def test_a_package_that_many_files_lack_is_one_problem_with_all_its_places() -> None:
    (found,) = merged(*(problem("FX901", "warning", MISSING.format(n), f"/{n}.py", 3, f"{n}.py:Net") for n in "abc"))
    assert found.message == f"{MISSING.format('a')}.\nAlso at 2 more places, in 3 models."
    assert [(each.message, each.location.file) for each in found.related] == [
        ("also here", "/b.py"),
        ("also here", "/c.py"),
    ]


def test_errors_come_first_then_what_concerns_most_models_then_the_text() -> None:
    hint = problem("FX318", "hint", "*x", "/a.py", 1, "A")
    note = problem("FX903", "info", "needs", "/a.py", 2, "A")
    alone = [problem("FX101", "warning", "no", "/a.py", line, "A") for line in (3, 4)]
    missing = [problem("FX901", "warning", MISSING.format(name), f"/{name}.py", 1, name) for name in "xyz"]
    error = problem("FX401", "error", "wrong", "/z.py", 9, "A")
    found = merged(hint, note, *alone, *missing, error)
    assert [(each.code, each.location and each.location.line) for each in found] == [
        ("FX401", 9),
        ("FX901", 1),
        ("FX101", 3),
        ("FX101", 4),
        ("FX903", 2),
        ("FX318", 1),
    ]


def test_a_place_that_concerns_many_models_counts_them_all() -> None:
    alone = problem("FX101", "warning", "first in the text", "/a.py", 1, "A")
    shared = [problem("FX101", "warning", "shared", "/b.py", 1, model) for model in "BCD"]
    found = merge_causes([alone, shared[0]], models_by_problem([alone, *shared]), lambda _: None)
    assert [(each.problem.message, len(each.models)) for each in found] == [("shared", 3), ("first in the text", 1)]


def test_the_most_severe_place_of_a_cause_leads() -> None:
    weak = problem("FX901", "warning", MISSING.format("a"), "/a.py", 1, "A")
    strong = problem("FX401", "error", "No module named 'timm' (ModuleNotFoundError)", "/b.py", 2, "B")
    assert [each.code for each in merged(weak, strong)] == ["FX401"]


def test_the_first_steps_name_the_package_to_install_and_the_places() -> None:
    missing = [problem("FX901", "warning", MISSING.format(name), f"/{name}.py", 1, name) for name in "xy"]
    others = [problem("FX101", "warning", f"number {line}", "/a.py", line, "A") for line in range(1, 5)]
    note = problem("FX903", "info", "needs", "/a.py", 9, "A")
    causes = merge_causes([*others, note, *missing], models_by_problem([*others, note, *missing]), lambda _: None)
    assert first_steps(causes) == [
        "Start with:",
        "  1. /x.py:1:1: install what provides timm, or name the interpreter that has it (2 models)",
        "  2. /a.py:1:1: FX101 warning: number 1",
        "  3. /a.py:2:1: FX101 warning: number 2",
    ]
    assert first_steps(causes[:1]) == []
    assert first_steps([]) == []


def test_the_places_of_a_cause_take_one_line() -> None:
    (found,) = merged(*(problem("FX901", "warning", MISSING.format(n), f"/{n}.py", 3, n) for n in "abcdefg"))
    places = [line for line in full_lines(found) if "also here" in line]
    assert places == ["  = also here: /b.py:3:1, /c.py:3:1, /d.py:3:1, /e.py:3:1 and 2 more"]


def test_copies_of_a_file_have_their_problems_once() -> None:
    texts = {"/log/2/net.py": "x = f(y)\n", "/log/1/net.py": "x = f(y)\n", "/net.py": "x = f(z)\n"}
    found = merged(*(problem("FX101", "warning", "no", path, 1, f"{path}:Net") for path in texts), texts=texts)
    assert [(each.location and each.location.file, each.message) for each in found] == [
        ("/log/1/net.py", "no.\nAlso at 1 more place, in 2 models."),
        ("/net.py", "no"),
    ]
    assert [each.location.file for each in found[0].related] == ["/log/2/net.py"]
