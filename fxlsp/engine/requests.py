"""What a trace is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.report.report import Report
from fxlsp.report.sizes import ANY_SIZES, Sizes
from fxlsp.report.tracers import TORCH_FX, TracerChoice
from fxlsp.report.wire import Message


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One model to trace. Exactly one of ``file`` and ``module`` says where it is defined."""

    file: str | None
    """Absolute path."""
    module: str | None
    """Dotted name, found on the ``sys.path`` of the interpreter."""
    name: str
    """Qualified name of a class, factory or instance in it."""
    init: str | None = None
    """The expression that makes the model; None leaves it to the tracing process."""
    inputs: str | None = None
    """The text of the arguments of its call; None leaves it to the tracing process."""
    source: RecipeSource | None = None
    """Where ``init`` and ``inputs`` come from; None when neither is given."""
    names_in: str | None = None
    """The file whose names ``init`` and ``inputs`` use, where that is not the model's own."""
    alternatives: tuple[Recipe, ...] = ()
    """What to try, one after the other, where ``init`` and ``inputs`` do not work."""
    only: bool = False
    """Somebody chose this very recipe: where it does not work, nothing else is tried."""
    guess: Recipe | None = None
    """What an earlier trace found by search: tried before another search."""
    overlays: Mapping[str, str] = field(default_factory=dict)
    """Text by path, for files that are to be read as they stand in the editor."""
    roots: tuple[str, ...] = ()
    """Workspace folders; modules below them are the user's own."""
    tracer: TracerChoice = TORCH_FX
    """How it is traced."""
    sizes: Sizes = ANY_SIZES
    """Those of inputs that have to be guessed."""
    seconds: float = 10.0
    """Wall time after which the trace is ended."""
    megabytes: int = 4096
    """Resident memory above which the trace is ended."""

    @property
    def target(self) -> str:
        """The public name of the model: ``file.py:Name`` or ``package.module:Name``."""
        return f"{self.file or self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request: a report, or the failure that stands in its place."""

    report: Report | None = None
    failure: Failure | None = None
    reads: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each workspace file that was executed, by path."""
    imports: tuple[str, ...] = ()
    """Third-party packages that the trace loaded."""
    died: bool = False
    """The process that traced crashed, exited or was ended at a limit."""


def outcome_of(message: Message) -> Outcome:
    """The outcome that a ``report`` or ``failure`` message holds.

    Raises:
        KeyError, TypeError: the message lacks a field of this protocol.
    """
    reads = {read["path"]: read["digest"] for read in message.get("reads", ())}
    imports = tuple(message.get("imports", ()))
    if message["type"] == "report":
        return Outcome(Report.from_json(message["report"]), None, reads, imports)
    return Outcome(None, Failure.from_json(message["failure"]), reads, imports)
