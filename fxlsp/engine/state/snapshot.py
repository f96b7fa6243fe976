"""What the session knows at one moment: documents, models, reports and their status, all immutable.

Handlers take a :class:`Snapshot` once, answer from it, and never wait for work.
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
"""For a file that is not open: it moves nothing, whatever the text."""


class Status(enum.Enum):
    """Where the newest trace of a model stands. Whether there is a report to show is another question."""

    UNKNOWN = "unknown"
    """Never traced: not trusted, over the budget of its file, or covered by the trace of another model."""
    QUEUED = "queued"
    RUNNING = "running"
    FRESH = "fresh"
    """The report holds for the texts as they are."""
    STALE = "stale"
    """The report holds for earlier texts, and no trace of the present ones is under way."""
    FAILED = "failed"
    """The newest trace has no graph; a report, if there is one, is older."""
    POISONED = "poisoned"
    """Its trace died twice on these very texts; it runs again after the next change."""


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What is traced: a class, factory or instance, made and fed in one way, under one interpreter, by one
    tracer, in some sizes."""

    python: str
    """Path of the interpreter, "" while there is none."""
    file: str
    """Real, absolute path of the file that defines the model."""
    name: str
    """Qualified name inside that file: ``Outer.Inner``."""
    recipe: Recipe | None
    """None leaves it to the tracing process to find one."""
    tracer: TracerChoice = TORCH_FX
    sizes: Sizes = ANY_SIZES
    """Those that the user wants of guessed inputs."""

    def __hash__(self) -> int:
        # Asked for thousands of times at an edit; few keys differ in nothing else.
        return hash((self.file, self.name))


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is known about one model."""

    key: ModelKey
    status: Status = Status.UNKNOWN
    report: Report | None = None
    """The last good one. Its spans stand in the texts named by ``texts``."""
    files: frozenset[str] = frozenset()
    """The files in which the report has a place to show something."""
    sizes: Sizes = ANY_SIZES
    """Those that were wanted of the report."""
    failure: Failure | None = None
    """Why the newest trace has no graph; None once one has. Its location stands in ``failure_texts``."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each workspace file that the report's trace executed, by path."""
    failure_texts: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each file that the failing trace read, by path."""
    versions: Mapping[str, int | None] = field(default_factory=dict)
    """Versions of the open documents that the report's trace saw, by path."""
    covered_by: ModelKey | None = None
    """The model inside whose fresh report this one's ``forward`` ran; this one is then not traced itself."""
    found: tuple[FoundRecipe, ...] = ()
    """Every recipe that is written down for the model, bad ones too."""
    pinned: bool = False
    """The user chose its recipe among several."""
    cost_ms: float = 0.0
    """What its last trace took, from request to report, milliseconds; 0 before the first."""

    @property
    def busy(self) -> bool:
        """A trace is waiting or running."""
        return self.status in (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class InterpreterState:
    """The interpreter of one workspace folder."""

    folder: str
    interpreter: Interpreter | None
    environment: Environment | None = None
    """Known once it has been started."""
    failure: Failure | None = None
    """Why nothing can be traced in this folder."""
    busy: bool = False
    """It is being started: torch is being imported."""


@dataclass(frozen=True)
class Snapshot:
    """The session at one moment. Mappings in it are never changed once it is made."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    """The open documents by path."""
    background: Mapping[str, Document] = field(default_factory=dict)
    """Files that are not open and whose problems are wanted all the same, as they are on disk, by path."""
    settled: Mapping[str, Document] = field(default_factory=dict)
    """Of each open document the newest text that parses, by path; its edits since then are in ``logs``."""
    logs: Mapping[str, History] = field(default_factory=dict)
    """For each open document, its edits since each text on which something was traced."""
    models: Mapping[ModelKey, ModelState] = field(default_factory=dict)
    trusted: bool = False
    interpreters: tuple[InterpreterState, ...] = ()
    """One for each workspace folder, in their order; one for the folder "" where there is none."""
    instances: Mapping[SymbolId, ForwardInstance] = field(default_factory=dict)
    """The instance that the user chose to see of a class, by the place of the class."""
    hints: Mapping[str, HintKinds] = field(default_factory=dict)
    """Which are wanted, by workspace folder; "" for files that lie in none."""
    policies: Mapping[str, Policy] = field(default_factory=dict)
    """Which problems are told and how severe they are, by workspace folder; "" for files that lie in none."""
    excluded: frozenset[str] = frozenset()
    """Open documents that the settings leave out: of these, only what syntax tells."""
    setting_problems: tuple[SettingProblem, ...] = ()
    setting_texts: Mapping[str, str] = field(default_factory=dict)
    """The text of each folder's ``pyproject.toml`` as it was read, by path."""
    index: Index = field(default_factory=lambda: Index({}))
    """What the files of the folders offer, open ones as they stood when they last parsed."""

    def document(self, path: str) -> Document | None:
        """The text of a file that is open or in the background."""
        return self.documents.get(path) or self.background.get(path)

    @cached_property
    def failed(self) -> tuple[ModelState, ...]:
        """The states of the models whose newest trace has no graph."""
        return tuple(state for state in self.models.values() if state.failure is not None)

    def states_in(self, path: str) -> tuple[ModelState, ...]:
        """The states whose model is defined in ``path``, in the order of their recipes."""
        return self._by_file.get(path, ())

    def reports_touching(self, path: str) -> tuple[tuple[ModelState, EditLog], ...]:
        """Every kept report that has a place in ``path``, with the edits of that file since.

        Chosen recipes come first, guessed ones last.


        A report whose text of ``path`` is not known any more is left out: its places cannot be moved.
        """
        states = () if path in self.excluded else self._by_place.get(path, ())
        pairs = ((state, self.edits_since(path, state.texts)) for state in states)
        return tuple((state, log) for state, log in pairs if log is not None)

    def edits_since(self, path: str, texts: Mapping[str, str]) -> EditLog | None:
        """The edits of ``path`` since a trace that read ``texts``; None when that text is not known any more."""
        history = self.logs.get(path)
        if history is None:
            present = self.background.get(path)
            return _UNEDITED if present is None or texts.get(path, present.digest) == present.digest else None
        return history.since(texts.get(path))

    def interpreter_of(self, path: str) -> InterpreterState | None:
        """The interpreter of the innermost folder that holds ``path``, else of the first folder."""
        holding = [state for state in self.interpreters if state.folder and inside(path, state.folder)]
        first = self.interpreters[0] if self.interpreters else None
        return max(holding, key=lambda state: len(state.folder), default=first)

    def policy_of(self, path: str) -> Policy:
        """The policy of the innermost folder that holds ``path``, else of the first folder."""
        return _of_folder(self.policies, path, Policy())

    def hints_of(self, path: str) -> HintKinds:
        """The hints that are wanted in the innermost folder that holds ``path``, else in the first folder."""
        return _of_folder(self.hints, path, ALL_HINTS)

    @cached_property
    def _by_file(self) -> dict[str, tuple[ModelState, ...]]:
        states: dict[str, tuple[ModelState, ...]] = {}
        for key, state in self.models.items():
            states[key.file] = (*states.get(key.file, ()), state)
        return states

    @cached_property
    def _by_place(self) -> dict[str, tuple[ModelState, ...]]:
        states: dict[str, tuple[ModelState, ...]] = {}
        # What the user chose to see comes before what other models make of the same class, and what a model really gave
        # its parts, though it may be broken now, before a guess.
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
    """``path`` lies in ``folder``, at any depth; both real and absolute."""
    return path.startswith(folder.rstrip("/\\") + ("\\" if "\\" in folder else "/"))


def files_of(report: Report) -> frozenset[str]:
    """The files in which the report has a place to show something."""
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
