"""Merging of equal problems that several instances of a class have at one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .code_records import RANKS
from .locations import Location
from .problems import Problem

_PATHS_SHOWN = 3


def merge_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return one problem for each code and place, in order of first occurrence.

    The most severe of a group is shown, of equal ones the first. Its message names the modules of the others.
    """
    groups: dict[tuple[str, Location | str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.code, problem.location or problem.message), []).append(problem)
    return tuple(_merged(group) for group in groups.values())


def _merged(group: Sequence[Problem]) -> Problem:
    first = min(group, key=lambda problem: RANKS[problem.severity])
    fitting = {problem.fitting for problem in group}
    # A number that fits one of several modules does not fit the others.
    return replace(first, message=merged_message([first, *group]), fitting=fitting.pop() if len(fitting) == 1 else None)


def merged_message(group: Sequence[Problem]) -> str:
    """Return the message of the first problem with the module paths of the others."""
    first = group[0]
    paths = dict.fromkeys(problem.module_path for problem in group if problem.module_path != first.module_path)
    further = [path for path in paths if path]
    if not further:
        return first.message
    more = f" and {len(further) - _PATHS_SHOWN} more" if len(further) > _PATHS_SHOWN else ""
    # Messages of torch often end without a full stop, and editors may join the lines.
    message = first.message if first.message.endswith((".", "?", "!", ":")) else f"{first.message}."
    return f"{message}\nAlso in {', '.join(further[:_PATHS_SHOWN])}{more}."
