"""A package that is missing is no error of the model that uses it."""

from __future__ import annotations

from fxlsp.report.problems import Problem
from fxlsp.tracing.job.corrected_report import if_hardware_lacks


def test_a_call_of_a_package_that_is_missing_fails_to_load_it() -> None:
    for text in (
        "No module named 'einops' (ModuleNotFoundError)",
        "With other inputs this may work: ModuleNotFoundError: No module named 'einops'",
    ):
        found = if_hardware_lacks(Problem("FX401", "error", text, None))
        assert (found.code, found.severity) == ("FX901", "warning")
        assert found.message == "cannot load what this uses: ModuleNotFoundError: No module named 'einops'"


def test_an_error_that_only_mentions_a_module_stays_one_of_the_model() -> None:
    problem = Problem("FX401", "error", "KeyError: \"No module named 'einops'\"", None)
    assert if_hardware_lacks(problem) is problem


def test_a_problem_of_another_kind_is_left_alone() -> None:
    problem = Problem("FX101", "warning", "No module named 'a' (ModuleNotFoundError)", None)
    assert if_hardware_lacks(problem) is problem
