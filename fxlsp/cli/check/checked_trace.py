"""One trace of ``fxlsp check``, and the problems of torch.fx and of other front ends that it came to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fxlsp.cli.check.candidates import FoundModel
from fxlsp.cli.output.problems import problem_of
from fxlsp.engine.settings.policy import Policy
from fxlsp.ide.frontend_problems import problems_of_verdict, repeated_failures
from fxlsp.report.codes import NOT_FED
from fxlsp.report.frontend_codes import COMPILE_FAILS, frontend_of
from fxlsp.report.frontends import FrontendName, FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.recipes.recipes import find_written


@dataclass(frozen=True)
class CheckedTrace:
    """One trace and its outcome."""

    model: FoundModel
    recipe: Recipe | None
    outcome: Report | Failure
    policy: Policy = field(default_factory=Policy)
    """Selection and severity of problems where the model is defined."""

    @property
    def is_sure(self) -> bool:
        """Whether nothing was guessed or missing."""
        outcome = self.outcome
        return outcome.recipe.source != "search" if isinstance(outcome, Report) else outcome.needs is None

    @property
    def verdicts(self) -> tuple[FrontendVerdict, ...]:
        """Verdicts of the front ends that were asked."""
        return self.outcome.frontends if isinstance(self.outcome, Report) else ()

    @property
    def files(self) -> frozenset[str]:
        """The model's file and those whose code was recorded, as far as the trace came.

        Not those of functions that record nothing, such as one that prints.
        """
        if not isinstance(self.outcome, Report):
            return frozenset({self.model.location.file})
        nodes = (each.location for each in self.outcome.nodes)
        calls = (each.forward for each in self.outcome.calls)
        return frozenset(place.file for place in (self.model.location, *nodes, *calls) if place is not None)

    def problems(self) -> tuple[Problem, ...]:
        """Return the problems of torch.fx, or the one that the failure is."""
        outcome = self.outcome
        if isinstance(outcome, Report):
            place = self._written_at(outcome.recipe)
            return tuple(replace(each, location=place) if _is_of_recipe(each) else each for each in outcome.problems)
        asked = self.recipe is not None and self.recipe.source in ("comment", "config")
        place = self._written_at(self.recipe) if asked else None
        return (problem_of(outcome, place or self.model.location),)

    def problems_of_frontends(self, used: Collection[OtherFrontend]) -> Iterator[Problem]:
        """Yield what other front ends than torch.fx found, unless they could not be asked.

        Args:
            used: front ends that the workspace uses: what they find is a warning, unless inputs were guessed, or this
                machine may be the reason.
        """
        for verdict in self.verdicts:
            if verdict.frontend == "fx" or verdict.verdict == "unavailable":
                continue
            is_pressing = verdict.frontend in used and self.is_sure and verdict.verdict not in ("timeout", "limit")
            for found in problems_of_verdict(verdict, self.model.target.text, self.model.location):
                is_warning = is_pressing and not found.is_of_machine
                severity = self.policy.severity(found.problem.code, "warning" if is_warning else found.problem.severity)
                if severity is not None:
                    yield replace(found.problem, severity=severity)

    def _written_at(self, recipe: Recipe | None) -> Location | None:
        """Return where the recipe of the trace is written.

        Problems of a recipe have no other location.
        """
        found = None if recipe is None else find_written(self.model.candidate.found, recipe)
        return None if found is None else found.location(self.model.location.file)


def without_repeated_failures(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems without the failures of other front ends where the model itself fails."""
    places = [None if each.location is None else _begin(each.location) for each in problems]
    repeated = repeated_failures(
        [(each.code, each.severity, place) for each, place in zip(problems, places, strict=True)]
    )
    return [each for each, is_repeated in zip(problems, repeated, strict=True) if not is_repeated]


def _is_of_recipe(problem: Problem) -> bool:
    return problem.location is None and problem.code == NOT_FED


def _begin(place: Location) -> tuple[str, int, int]:
    """Return where a location begins; only one of two for the same expression may know its function."""
    return place.file, place.line, place.column


@dataclass(frozen=True)
class FrontendScope:
    """Where a run would have found every problem of other front ends than torch.fx."""

    known: Mapping[OtherFrontend, frozenset[str] | None] = field(default_factory=dict)
    """Of each front end that was asked: the files whose code it followed to its end, None for all files."""

    @classmethod
    def of(cls, asked: Iterable[FrontendName], traces: Collection[CheckedTrace]) -> FrontendScope:
        """Return the scope of a run that asked for the verdicts of some front ends."""
        return cls({name: _files_known_to(name, traces) for name in asked if name != "fx"})

    def could_find(self, code: str, path: str) -> bool:
        """Return whether every problem of a code, or of the codes that begin so, would have been found in a file.

        True for the codes of torch.fx, which is always asked.
        """
        frontend = frontend_of(code)
        if frontend is None or frontend not in self.known:
            return frontend is None
        files = self.known[frontend]
        return files is None or path in files


def _files_known_to(name: OtherFrontend, traces: Collection[CheckedTrace]) -> frozenset[str] | None:
    """Return the files whose code a front end followed to its end; None for all files.

    Where it did not follow some model, what that runs elsewhere is not known: only files of other models are left.
    """
    unfinished = [trace for trace in traces if not _is_followed(trace, name)]
    if not unfinished:
        return None
    files = frozenset(trace.model.location.file for trace in traces)
    return files.difference(*(trace.files for trace in unfinished))


def _is_followed(trace: CheckedTrace, name: OtherFrontend) -> bool:
    verdicts = [each for each in trace.verdicts if each.frontend == name]
    return bool(verdicts) and all(map(_is_complete, verdicts))


def _is_complete(verdict: FrontendVerdict) -> bool:
    """Return whether a front end has followed a model to its end.

    torch.export names the first reason for which it refuses the model or fixes the batch, and no other one;
    torch.compile ends where the call fails.
    """
    if verdict.frontend == "export":
        return verdict.verdict == "ok" and not verdict.problems
    fails = any(each.code == COMPILE_FAILS for each in verdict.problems)
    return verdict.verdict == "ok" or (verdict.verdict == "problem" and not fails)
