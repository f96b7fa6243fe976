"""Immutable snapshot of a session: documents, models, reports and their status.

Request handlers take a :class:`Snapshot` once, answer from it, and never wait for work.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.settings.interpreters import Interpreter
from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.settings.settings import ALL_HINTS, HintKinds, SettingProblem
from fxlsp.engine.state.history import History
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.report.frontends import FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Environment, Report
from fxlsp.report.sizes import ANY_SIZES, Sizes
from fxlsp.report.tracer_choice import TORCH_FX, TracerChoice
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import EditLog
from fxlsp.source.text.positions import LineIndex

T = TypeVar("T")

_UNEDITED = EditLog.starting_at(LineIndex(""))
"""Edits of a closed file: it moves no span, whatever the text."""


class Status(enum.Enum):
    """Progress of the newest trace of a model, whether or not it has a report."""

    UNKNOWN = "unknown"
    """Never traced: not trusted, over the budget of its file, or covered by the trace of another model."""
    QUEUED = "queued"
    RUNNING = "running"
    FRESH = "fresh"
    """The report applies to the present texts."""
    STALE = "stale"
    """The report applies to earlier texts, and no trace of the present ones is running."""
    FAILED = "failed"
    """The newest trace has no graph; a report, if there is one, is older."""
    POISONED = "poisoned"
    """The worker died twice on exactly these texts; the next change allows another trace."""


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Identity of what is traced.

    A class, factory or instance, with one recipe, under one interpreter, by one tracer, in some sizes.
    """

    python: str
    """Path of the interpreter; "" if there is none."""
    file: str
    """Real, absolute path of the file that defines the model."""
    name: str
    """Qualified name in that file: ``Outer.Inner``."""
    recipe: Recipe | None
    """None if the worker must search for one."""
    tracer: TracerChoice = TORCH_FX
    sizes: Sizes = ANY_SIZES
    """Sizes of guessed inputs that the user wants."""
    symbols: bool = False
    """Whether sizes are wanted as expressions of symbols too."""

    def __hash__(self) -> int:
        # Called thousands of times at an edit; few keys differ only in their other fields.
        return hash((self.file, self.name))


@dataclass(frozen=True, slots=True)
class FrontendAnswer:
    """Verdict of another front end than torch.fx on a model, and of what it is the verdict."""

    verdict: FrontendVerdict
    """Its spans refer to the texts in ``texts``."""
    texts: Mapping[str, str]
    """Digest of the text of each workspace file that the model's trace executed, by path."""
    recipe: Recipe
    environment: Environment
    is_requested: bool
    """Whether the user asked for it by a command: else it is shown while the settings name the front end."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """State of one model."""

    key: ModelKey
    status: Status = Status.UNKNOWN
    report: Report | None = None
    """The last report with a graph. Its spans refer to the texts in ``texts``."""
    has_early_graph: bool = False
    """Whether the report is the graph of the trace that still runs, and applies to the present texts."""
    carries_problems: bool = False
    """Whether the problems of the report are those of an earlier text, since its own were never known."""
    files: frozenset[str] = frozenset()
    """Paths of the files in which the report has locations."""
    former_guess: Recipe | None = None
    """The guess that the report's recipe replaces, if an edit has changed what the model takes."""
    failure: Failure | None = None
    """Why the newest trace has no graph; None if it has one. Its location refers to ``failure_texts``."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each workspace file that the report's trace executed, by path."""
    failure_texts: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each file that the failed trace read, by path."""
    versions: Mapping[str, int | None] = field(default_factory=dict)
    """Versions of the open documents that the report's trace received, by path."""
    frontends: tuple[FrontendAnswer, ...] = ()
    """What other front ends answered about the present texts, by the recipe of the report."""
    asking: OtherFrontend | None = None
    """The front end that is being asked because the user has asked for that."""
    covered_by: ModelKey | None = None
    """The model in whose fresh report this one's ``forward`` ran; this one is then not traced itself."""
    found: tuple[FoundRecipe, ...] = ()
    """All recipes in the workspace for the model, invalid ones too."""
    pinned: bool = False
    """Whether the user chose its recipe among several."""
    cost_ms: float = 0.0
    """Time of its last trace from request to report, in milliseconds; 0 before the first one."""

    @property
    def busy(self) -> bool:
        """Whether a trace is queued or running."""
        return self.status in (Status.QUEUED, Status.RUNNING)

    @property
    def is_stale(self) -> bool:
        """Whether the report is of an earlier text."""
        return self.status is not Status.FRESH and not (self.status is Status.RUNNING and self.has_early_graph)


@dataclass(frozen=True, slots=True)
class InterpreterState:
    """Interpreter of one workspace folder."""

    folder: str
    interpreter: Interpreter | None
    environment: Environment | None = None
    """Versions; known once it has been started."""
    failure: Failure | None = None
    """Why nothing can be traced in this folder."""
    busy: bool = False
    """Whether its supervisor is being started, which imports torch."""


@dataclass(frozen=True)
class Snapshot:
    """Session at one moment. Its mappings never change."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    """Open documents by path."""
    background: Mapping[str, Document] = field(default_factory=dict)
    """Closed files whose problems are reported, as they are on disk, by path."""
    settled: Mapping[str, Document] = field(default_factory=dict)
    """Newest text of each open document that parses, by path; the edits since are in ``logs``."""
    logs: Mapping[str, History] = field(default_factory=dict)
    """Edits of each open document since each text on which something was traced."""
    models: Mapping[ModelKey, ModelState] = field(default_factory=dict)
    trusted: bool = False
    untrusted: frozenset[str] = frozenset()
    """Open documents that are not traced in a trusted workspace: they are in none of the folders that were trusted."""
    interpreters: tuple[InterpreterState, ...] = ()
    """One per workspace folder, in their order; one for the folder "" if there is none."""
    instances: Mapping[SymbolId, ForwardInstance] = field(default_factory=dict)
    """The use of a class that the user chose to see, by class."""
    hints: Mapping[str, HintKinds] = field(default_factory=dict)
    """Kinds of hints to show, by workspace folder; "" for files that are in none."""
    policies: Mapping[str, Policy] = field(default_factory=dict)
    """Selection and severity of problems, by workspace folder; "" for files that are in none."""
    record_commands: Mapping[str, str | None] = field(default_factory=dict)
    """Command that the settings name for a recording, by workspace folder; "" for files that are in none."""
    excluded: frozenset[str] = frozenset()
    """Open documents that the settings exclude: only syntactic features work in them."""
    setting_problems: tuple[SettingProblem, ...] = ()
    setting_texts: Mapping[str, str] = field(default_factory=dict)
    """Text of each folder's ``pyproject.toml`` as it was read, by path."""
    index: Index = field(default_factory=lambda: Index({}))
    """Index of the folders' files, of open ones by their newest text that parses."""

    def document(self, path: str) -> Document | None:
        """Return the text of a file that is open or in the background."""
        return self.documents.get(path) or self.background.get(path)

    def is_trusted(self, path: str) -> bool:
        """Return whether the models of a file are traced."""
        return self.trusted and path not in self.untrusted

    @cached_property
    def failed(self) -> tuple[ModelState, ...]:
        """States of the models whose newest trace has no graph."""
        return tuple(state for state in self.models.values() if state.failure is not None)

    @cached_property
    def asked(self) -> tuple[ModelState, ...]:
        """States of the models with verdicts of other front ends."""
        return tuple(state for state in self.models.values() if state.frontends)

    def states_in(self, path: str) -> tuple[ModelState, ...]:
        """Return the states of the models defined in ``path``, in order of their recipes."""
        return self._by_file.get(path, ())

    def reports_touching(self, path: str) -> tuple[tuple[ModelState, EditLog], ...]:
        """Return each report with a location in ``path``, and the edits since its trace.

        Pinned recipes come first, guessed ones last. A report is left out if its text of ``path`` is not known any
        more, since its locations cannot be moved to the present text.
        """
        states = () if path in self.excluded else self._by_place.get(path, ())
        pairs = ((state, self.edits_since(path, state.texts)) for state in states)
        return tuple((state, log) for state, log in pairs if log is not None)

    def edits_since(self, path: str, texts: Mapping[str, str]) -> EditLog | None:
        """Return the edits of ``path`` since a trace that read ``texts``.

        None if the text of ``path`` in that trace is not known any more.
        """
        history = self.logs.get(path)
        if history is None:
            present = self.background.get(path)
            return _UNEDITED if present is None or texts.get(path, present.digest) == present.digest else None
        return history.since(texts.get(path))

    def interpreter_of(self, path: str) -> InterpreterState | None:
        """Return the interpreter of the innermost folder around ``path``, else the first."""
        holding = [state for state in self.interpreters if state.folder and inside(path, state.folder)]
        first = self.interpreters[0] if self.interpreters else None
        return max(holding, key=lambda state: len(state.folder), default=first)

    def policy_of(self, path: str) -> Policy:
        """Return the policy of the innermost folder around ``path``, else of the first."""
        return _of_folder(self.policies, path, Policy())

    def hints_of(self, path: str) -> HintKinds:
        """Return the hint kinds of the innermost folder around ``path``, else the first."""
        return _of_folder(self.hints, path, ALL_HINTS)

    def record_command_of(self, path: str) -> str | None:
        """Return the command to record of the innermost folder around ``path``, else of the first."""
        return _of_folder(self.record_commands, path, None)

    @cached_property
    def _by_file(self) -> dict[str, tuple[ModelState, ...]]:
        states: dict[str, tuple[ModelState, ...]] = {}
        for key, state in self.models.items():
            states[key.file] = (*states.get(key.file, ()), state)
        return states

    @cached_property
    def _by_place(self) -> dict[str, tuple[ModelState, ...]]:
        states: dict[str, tuple[ModelState, ...]] = {}
        # Reports that the user chose come before others of the same class. Reports with inputs from the workspace, even
        # broken ones, come before those with guessed inputs.
        for state in sorted(self.models.values(), key=lambda state: (not state.pinned, _is_guessed(state))):
            for file in state.files:
                states[file] = (*states.get(file, ()), state)
        return states


def _is_guessed(state: ModelState) -> bool:
    return state.report is not None and state.report.recipe.source == "search"


def _of_folder(by_folder: Mapping[str, T], path: str, default: T) -> T:
    holding = [folder for folder in by_folder if folder and inside(path, folder)]
    first = next(iter(by_folder), "")
    return by_folder.get(max(holding, key=len, default=first), default)


def inside(path: str, folder: str) -> bool:
    """Return whether ``path`` is in ``folder`` at any depth.

    Both are real, absolute paths.
    """
    return path.startswith(folder.rstrip("/\\") + ("\\" if "\\" in folder else "/"))


def files_of(report: Report) -> frozenset[str]:
    """Return the paths of the files in which a report has locations."""
    return frozenset(location.file for location in _locations(report))


def _locations(report: Report) -> Iterator[Location]:
    for node in report.nodes:
        if node.location is not None:
            yield node.location
        yield from (step.location for step in node.stack)
    for call in report.calls:
        yield from (place for place in (call.location, call.forward) if place is not None)
    for problem in report.problems:
        if problem.location is not None:
            yield problem.location
        yield from (related.location for related in problem.related)
    for module in report.modules:
        yield from (place for place in (module.location, module.registration) if place is not None)
