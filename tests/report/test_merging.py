"""Problems at one place are one problem."""

from __future__ import annotations

from itertools import permutations

from fxlsp.report.locations import Location
from fxlsp.report.merging import merge_problems
from fxlsp.report.problems import Problem

PLACE = Location("net.py", 3, 5, 3, 9)
NOTE = Problem("FX801", "info", "a note", PLACE, module_path="a")
WARNING = Problem("FX801", "warning", "a warning", PLACE, module_path="b")
ERROR = Problem("FX801", "error", "an error", PLACE, module_path="c")


def test_the_most_severe_of_equal_problems_is_shown_whatever_their_order() -> None:
    for problems in permutations((NOTE, WARNING, ERROR)):
        (merged,) = merge_problems(problems)
        assert (merged.severity, merged.module_path) == ("error", "c")
        headline, also = merged.message.splitlines()
        assert headline == "an error."
        assert sorted(also.removeprefix("Also in ").removesuffix(".").split(", ")) == ["a", "b"]


def test_problems_of_other_places_and_codes_are_others() -> None:
    other = Problem("FX802", "info", "another", PLACE)
    elsewhere = Problem("FX801", "info", "another", Location("net.py", 4, 5, 4, 9))
    assert merge_problems((NOTE, other, elsewhere)) == (NOTE, other, elsewhere)
