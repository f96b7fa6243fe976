"""Results of ``fxlsp check``: the outcome of each class, and each problem once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fxlsp.cli.check.baseline import Baseline
from fxlsp.cli.check.candidates import FoundFile, FoundModel
from fxlsp.cli.check.causes import CheckedCause, merge_causes, models_by_problem
from fxlsp.cli.check.checked_trace import CheckedTrace, FrontendScope, without_repeated_failures
from fxlsp.cli.check.fingerprints import Fingerprint, fingerprint_of
from fxlsp.cli.check.suppression import Suppressions
from fxlsp.cli.tracing.notebooks import in_cells
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.frontends import FrontendName, FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.merging import merge_problems
from fxlsp.report.problems import SCHEMA, Failure, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Environment, Report
from fxlsp.report.serialization import UNLESS_DEFAULT, JsonObject
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.ignores import IgnoredCode
from fxlsp.source.text.documents import Document

Status = Literal["traced", "recovered", "covered", "unshaped", "failed", "skipped"]
"""How far a class was followed.

``traced``: by torch.fx; ``recovered``: past what torch.fx refuses; ``covered``: in the trace of another model;
``unshaped``: in one of these ways, but without a single shape; ``failed``: there is no graph; ``skipped``: it was not
tried, since it needs something.
"""

ENDED = "the check was ended before it was traced"
_FOLLOWED: tuple[Status, ...] = ("traced", "recovered", "covered")


@dataclass(frozen=True)
class ModelEntry(JsonObject):
    """Outcome of one class statement (contract: ``models[]``)."""

    target: str
    location: Location
    status: Status
    reason: str = ""
    recipe: Recipe | None = None
    nodes: int = 0
    covered_by: str | None = None
    frontends: tuple[FrontendVerdict, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """Verdicts of the front ends that were asked for, by the first recipe."""


@dataclass
class CheckResults:
    """Everything that one run found."""

    files: Sequence[FoundFile]
    attempts: list[CheckedTrace] = field(default_factory=list)
    covers: dict[tuple[str, str], str] = field(default_factory=dict)
    """Target of the model whose trace covers a class, by the class's file and qualified name."""
    unshaped: set[tuple[str, str]] = field(default_factory=set)
    """Classes, as in ``covers``, that no such trace has shapes of."""
    unreadable: Sequence[Problem] = ()
    """Those of files that cannot be read at all."""
    environment: Environment | None = None
    suppressions: Suppressions | None = None
    """Filter of the problems, None to report all."""
    baseline: Baseline | None = None
    """Known problems, which are not reported."""
    frontends: Sequence[FrontendName] = ()
    """Front ends that were asked for their verdicts."""
    frontend_uses: frozenset[OtherFrontend] = frozenset()
    """Those of them that the workspace uses: what they find is a warning."""
    is_incomplete: bool = False
    """Whether the run was ended before every model was traced."""

    @property
    def no_interpreter(self) -> Failure | None:
        """Why nothing at all could be traced, if nothing could."""
        failures = [attempt.outcome for attempt in self.attempts if isinstance(attempt.outcome, Failure)]
        if len(failures) < len(self.attempts) or any(failure.code != NO_INTERPRETER for failure in failures):
            return None
        return failures[0] if failures else None

    def entries(self) -> list[ModelEntry]:
        """Return one for each class with its own ``forward``, in the order of the text."""
        return [in_cells(self._entry(file, model)) for file in self.files for model in file.classes]

    def problems(self) -> list[Problem]:
        """Return one problem for each cause, after suppressions, in the order in which they matter."""
        return [cause.problem for cause in self.causes()]

    def causes(self) -> list[CheckedCause]:
        """Return each cause once, after suppressions, in the order in which they matter.

        A problem that several traces found, or that shows at several places, is reported once.
        """
        return [replace(cause, problem=in_cells(cause.problem)) for cause in self._causes()]

    def fingerprints(self, folder: str) -> list[tuple[Problem, Fingerprint]]:
        """Return the problem of each cause, with a name that stays the same when lines move.

        Args:
            folder: absolute path of the folder that paths are relative to.
        """
        found = (cause.problem for cause in self._causes())
        return [(in_cells(problem), fingerprint_of(problem, self.document, folder)) for problem in found]

    def at_each_place(self) -> list[Problem]:
        """Return each problem at each of its places, after suppressions and the baseline.

        Locations in notebooks are those in the text of all cells.
        """
        merged: Iterable[Problem] = merge_problems(self._all_problems())
        reported = list(merged if self.suppressions is None else self.suppressions.remaining(merged))
        remaining = without_repeated_failures(reported)
        return remaining if self.baseline is None else self.baseline.remaining(remaining, self.document)

    def document(self, path: str) -> Document | None:
        """Return the text of a file as it was checked, None if it cannot be read."""
        return None if self.suppressions is None else self.suppressions.document(path)

    def unused_ignores(self) -> list[tuple[str, IgnoredCode]]:
        """Return what comments suppress in vain, in files of which every model was followed.

        Where one was not, what a comment suppresses may be in it; by torch.export or torch.compile, if the code is one
        of theirs.
        """
        if self.suppressions is None:
            return []
        self.at_each_place()
        followed = [
            file.document.path
            for file in self.files
            if all(self._entry(file, model).status in _FOLLOWED for model in file.classes)
        ]
        scope = self.frontend_scope()
        unused = self.suppressions.unused(followed)
        return [(path, each) for path, each in unused if scope.could_find(each.prefix, path)]

    def frontend_scope(self) -> FrontendScope:
        """Return where the run would have found every problem of other front ends."""
        return FrontendScope.of(self.frontends, self.attempts)

    def reported_attempts(self) -> list[CheckedTrace]:
        """Return the traces whose problems count.

        Not those by guessed inputs of models that the traces of others cover, as they use them.
        """
        return [each for each in self.attempts if each.is_sure or self._cover(each.model) is None]

    def recipe_of(self, problem: Problem) -> Recipe | None:
        """Return the recipe of the trace that found a problem; None if it is none of a trace."""
        reports = (attempt.outcome for attempt in self.attempts if isinstance(attempt.outcome, Report))
        recipes = [report.recipe for report in reports if report.target == problem.model]
        # With a recipe that is written somewhere it was found as well, if several recipes found it.
        return min(recipes, key=lambda recipe: recipe.source == "search", default=None)

    def to_json(self, timing_ms: dict[str, float]) -> dict[str, Any]:
        """Return the object of ``check --format json``."""
        return {
            "schema": SCHEMA,
            "environment": None if self.environment is None else self.environment.to_json(),
            "models": [entry.to_json() for entry in self.entries()],
            "problems": [problem.to_json() for problem in self.problems()],
            "unused_ignores": [_ignore_to_json(path, each) for path, each in self.unused_ignores()],
            "timing_ms": timing_ms,
            **({"incomplete": True} if self.is_incomplete else {}),
        }

    def _causes(self) -> list[CheckedCause]:
        """Return the causes; locations in notebooks are those in the text of all cells."""
        return merge_causes(self.at_each_place(), models_by_problem(self._all_problems()), self.document)

    def _all_problems(self) -> Iterable[Problem]:
        yield from self.unreadable
        for file in self.files:
            yield from file.problems
        for attempt in self.reported_attempts():
            yield from attempt.problems()
            yield from attempt.problems_of_frontends(self.frontend_uses)

    def _cover(self, model: FoundModel) -> str | None:
        """Return the model of another file whose trace covers this model.

        It was traced only after this model, and shows its ``forward`` as it is used there.
        """
        return self.covers.get((model.location.file, model.candidate.name))

    def _entry(self, file: FoundFile, model: ModelClass) -> ModelEntry:
        target, place = file.target(model), file.location(model)
        cover = self.covers.get((file.document.path, model.qualname))
        attempt = self._attempt_at(place)
        if attempt is not None and not attempt.is_sure and cover is not None:
            return self._covered_entry(file, model, cover)
        reason = ENDED if self.is_incomplete and not model.local else _skip_reason(model)
        entry = ModelEntry(target, place, "skipped", reason) if attempt is None else _entry_of(attempt)
        if entry.status == "skipped" and cover is not None:
            return self._covered_entry(file, model, cover)
        return entry

    def _covered_entry(self, file: FoundFile, model: ModelClass, cover: str) -> ModelEntry:
        is_unshaped = (file.document.path, model.qualname) in self.unshaped
        status: Status = "unshaped" if is_unshaped else "covered"
        return ModelEntry(file.target(model), file.location(model), status, covered_by=cover)

    def _attempt_at(self, place: Location) -> CheckedTrace | None:
        """Return the trace by the model's first recipe."""
        return next((attempt for attempt in self.attempts if attempt.model.location == place), None)


def _ignore_to_json(path: str, ignored: IgnoredCode) -> dict[str, Any]:
    return {"file": path, "line": ignored.line, "code": ignored.prefix or None}


def _skip_reason(model: ModelClass) -> str:
    """Return why a class was not traced."""
    return "it is made inside a function" if model.local else "its recipe is not one, or a later class has its name"


def _entry_of(attempt: CheckedTrace) -> ModelEntry:
    target, place, outcome = attempt.model.target.text, attempt.model.location, attempt.outcome
    if isinstance(outcome, Failure):
        status: Status = "failed" if outcome.needs is None else "skipped"
        return ModelEntry(target, place, status, outcome.message, attempt.recipe)
    error = outcome.verdict.error
    reason = f"{error.type}: {error.message}" if error is not None else ""
    return ModelEntry(
        target, place, _status(outcome), reason, outcome.recipe, len(outcome.nodes), frontends=outcome.frontends
    )


def _status(report: Report) -> Status:
    is_followed = report.complete or any(node.recovered or node.opaque for node in report.nodes)
    if not report.verdict.traceable and not is_followed:
        return "failed"
    if all(node.output is None for node in report.nodes):
        return "unshaped"
    return "traced" if report.verdict.traceable else "recovered"
