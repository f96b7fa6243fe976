from __future__ import annotations

from fxlsp.cli.output.problems import concise_line
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem


def test_a_concise_line_is_the_headline_alone() -> None:
    message = "layer `down` takes 64 channels, got 32\nGiven groups=1, weight of size [4, 64, 3, 3]\n(of Conv2d)"
    problem = Problem("FX401", "error", message, Location("/there/model.py", 3, 9, 3, 12))
    assert concise_line(problem) == "/there/model.py:3:9: FX401 error: layer `down` takes 64 channels, got 32"


def test_a_problem_without_a_message_has_a_concise_line() -> None:
    assert concise_line(Problem("FX401", "error", "", None, model="m.py:Net")) == "m.py:Net: FX401 error: "
