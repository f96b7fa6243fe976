"""Every message between server, template and children. This module is the documentation of the wire.

The server speaks to a template over a socket::

    server                          template
      |  <- hello | refused            |     once, when it can trace or cannot
      |  overlay*, trace, cancel ->    |     any number, several traces at once
      |  <- stage*, then one of        |
      |     report, failure, failed    |     for each trace that is not cancelled
      |  preload ->                    |
      |  bye ->                        |     or the end of the connection

The template speaks to each child over pipes. A forked child is handed one :class:`TraceRequest`; a spawned one may be
told to :class:`Preload` before, and to :class:`DumpStack` at any time. What a child answers for the server is passed on
as it is; :class:`Ready`, :class:`Declined`, :class:`CheckpointForked` and :class:`Provisional` are for the template. A
child hands its request on to a process for the second pass, which answers with :class:`RecoveredMessage` or
:class:`ModeDifference`.

Types and fields are named here as they travel. :data:`PROTOCOL` is raised when either side must not be older.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ..report.locations import Location
from ..report.problems import Problem
from ..report.recipes import Recipe, RecipeSource
from ..report.report import Report
from ..report.serialization import UNLESS_DEFAULT, JsonObject
from ..report.sizes import ANY_SIZES, Sizes
from ..report.tracer_choice import TORCH_FX, TracerChoice
from .vocabulary import Vocabulary, WireMessage

PROTOCOL = 1
"""Version of this vocabulary."""

# From the server to the template.


@dataclass(frozen=True, slots=True)
class Overlay(WireMessage):
    """Text of an unsaved buffer, sent once for each of its states, before the first trace that names it."""

    type: ClassVar[str] = "overlay"
    path: str
    digest: str
    """Of the text (:func:`.frames.text_digest`)."""
    text: str


@dataclass(frozen=True, slots=True)
class TraceTarget(JsonObject):
    """A model to trace. Exactly one of ``file`` and ``module`` says where it is defined."""

    name: str
    """Qualified name of a class, factory or instance there."""
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Absolute path."""
    module: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Dotted name, found on the ``sys.path`` of the interpreter."""

    def __str__(self) -> str:
        """Return the public name of the model: ``file.py:Name`` or ``package.module:Name``."""
        return f"{self.file or self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class RecipeGuess(JsonObject):
    """Recipe that an earlier trace of the model found by search."""

    init: str
    inputs: str | None


@dataclass(frozen=True, slots=True)
class RecipeRequest(JsonObject):
    """How a model is to be made and fed, and what to try where that does not work."""

    init: str | None = None
    """The expression that makes the model; None leaves it to conventions, defaults and search."""
    inputs: str | None = None
    """The text of the arguments of its call; None leaves it to conventions, defaults and search."""
    source: RecipeSource | None = None
    """Where ``init`` and ``inputs`` come from; None when neither is given."""
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """The file whose names ``init`` and ``inputs`` use, where that is not the model's own."""
    only: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """The user chose this very recipe: where it does not work, nothing else is tried."""
    alternatives: tuple[Recipe, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """What to try, one after the other, where ``init`` and ``inputs`` do not work."""
    guess: RecipeGuess | None = field(default=None, metadata=UNLESS_DEFAULT)
    """What to try before another search."""

    @classmethod
    def of(cls, recipe: Recipe | None) -> RecipeRequest:
        """Return the request for a recipe alone; for None one that leaves everything open."""
        return cls() if recipe is None else cls(recipe.init or None, recipe.inputs, recipe.source, recipe.file)


@dataclass(frozen=True, slots=True)
class Limits(JsonObject):
    """What a trace may use."""

    seconds: float = 10.0
    """Wall time after which it is ended."""
    megabytes: float = 4096
    """Resident memory above which it is ended."""


@dataclass(frozen=True, slots=True)
class TraceRequest(WireMessage):
    """Request for one trace, from the server to the template, from that to a child, and to its second pass."""

    type: ClassVar[str] = "trace"
    target: TraceTarget
    recipe: RecipeRequest = RecipeRequest()
    overlays: Mapping[str, str] = field(default_factory=dict)
    """Digest by path, for files that are to be read as they stand in the editor."""
    roots: tuple[str, ...] = ()
    """Workspace folders; modules below them are the user's own."""
    tracer: TracerChoice = TORCH_FX
    """How it is traced."""
    sizes: Sizes = ANY_SIZES
    """Those of inputs that have to be guessed."""
    limits: Limits = Limits()
    id: int = 0
    """Number that is in all that answers the request. The connection that sends it numbers it."""
    texts: Mapping[str, str] = field(default_factory=dict, metadata=UNLESS_DEFAULT)
    """Text by path of the ``overlays``. To the template they travel apart, as :class:`Overlay`; to a child by real
    path, in its request."""


@dataclass(frozen=True, slots=True)
class Cancel(WireMessage):
    """End of interest in a trace: it is ended, and nothing more of it is sent."""

    type: ClassVar[str] = "cancel"
    id: int


@dataclass(frozen=True, slots=True)
class Preload(WireMessage):
    """Request to import installed packages ahead of the models that import them."""

    type: ClassVar[str] = "preload"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bye(WireMessage):
    """End of the conversation: the template ends with all its children."""

    type: ClassVar[str] = "bye"


# From the template to the server, and from a spawned child to the template.


@dataclass(frozen=True, slots=True)
class Hello(WireMessage):
    """Greeting, sent once, when a trace can be asked for."""

    type: ClassVar[str] = "hello"
    protocol: int
    """:data:`PROTOCOL` of the process. Of another version, no other field need be there."""
    python: str = "?"
    torch: str = "?"
    executable: str = ""
    pid: int | None = None
    fork: bool = True
    """Whether a trace is carried out by a forked process."""
    positions: bool = True
    """Whether the interpreter knows columns of expressions (Python 3.11)."""
    remark: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Warning for the log. Only from a child to the template, which sends it as :class:`Log`."""


@dataclass(frozen=True, slots=True)
class Refused(WireMessage):
    """Reason why this interpreter cannot trace, instead of :class:`Hello`."""

    type: ClassVar[str] = "refused"
    code: str
    """Problem code, FX9xx."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Log(WireMessage):
    """Line for the log."""

    type: ClassVar[str] = "log"
    level: str = "info"
    """Name of a level of :mod:`logging`, in small letters."""
    message: str = ""


# From a child through the template to the server.


@dataclass(frozen=True, slots=True)
class Stage(WireMessage):
    """Stage that a trace has entered."""

    type: ClassVar[str] = "stage"
    id: int
    name: str
    """``load``, ``construct``, ``search``, ``trace``, ``values`` or ``checks``."""


@dataclass(frozen=True, slots=True)
class FileRead(JsonObject):
    """Workspace file that was executed, with the digest of its text."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class ReportMessage(WireMessage):
    """Result of a trace."""

    type: ClassVar[str] = "report"
    id: int
    report: dict[str, Any]
    """A :class:`~..report.report.Report`, megabytes at times: decoded only where it is used."""
    reads: tuple[FileRead, ...] = ()
    imports: tuple[str, ...] = ()
    """Third-party packages that the trace loaded."""


@dataclass(frozen=True, slots=True)
class FailureMessage(WireMessage):
    """Reason why a model has no graph."""

    type: ClassVar[str] = "failure"
    id: int
    failure: dict[str, Any]
    """A :class:`~..report.problems.Failure`."""
    reads: tuple[FileRead, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StackFrame(JsonObject):
    """Running line of Python, as faulthandler writes it: without columns."""

    file: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class WorkerDied(WireMessage):
    """End of a child before its result, as the template saw it."""

    type: ClassVar[str] = "failed"
    id: int
    stage: str | None = None
    """The last stage that it entered; ``start`` before any."""
    exit: int | None = None
    """Exit code; None where a signal ended it."""
    signal: int | None = None
    limit: Literal["time", "memory"] | None = None
    """The limit at which it was ended, if it was."""
    stack: tuple[StackFrame, ...] = ()
    """What was running, innermost first."""
    stderr_tail: str = ""
    """The end of what it printed."""


# From a child to the template, which keeps these to itself.


@dataclass(frozen=True, slots=True)
class Ready(WireMessage):
    """Readiness of a child: a request would be carried out at once. Sent anew after each :class:`Preload`."""

    type: ClassVar[str] = "ready"


@dataclass(frozen=True, slots=True)
class Declined(WireMessage):
    """Refusal of a child that comes from a holder: something that it knows is not so any more. Another one takes its
    request."""

    type: ClassVar[str] = "declined"


@dataclass(frozen=True, slots=True)
class CheckpointForked(WireMessage):
    """Birth of a holder, from which later traces of the same file can be forked."""

    type: ClassVar[str] = "holder"
    pid: int


@dataclass(frozen=True, slots=True)
class Provisional(WireMessage):
    """Announcement that the next frame, a :class:`ReportMessage`, is the answer if the child dies before another."""

    type: ClassVar[str] = "provisional"


# From the template to a spawned child.


@dataclass(frozen=True, slots=True)
class DumpStack(WireMessage):
    """Request to write the running stack to a file in the scratch folder, whatever is under way."""

    type: ClassVar[str] = "tell"


# From a process for the second pass to the child that made it.


@dataclass(frozen=True, slots=True)
class RecoveredMessage(WireMessage):
    """What the recovering pass found."""

    type: ClassVar[str] = "recovered"
    report: Report
    findings: tuple[Problem, ...]
    """Problems of a graph that was made all the same."""
    followed: tuple[int, ...]
    """Indexes of the report's nodes that stem from the model's inputs."""


@dataclass(frozen=True, slots=True)
class ModeDifference(WireMessage):
    """How the graph of the other one of train and eval mode differs from that of the model's own mode."""

    type: ClassVar[str] = "mode"
    training: bool
    """Whether the model's own mode is train."""
    nodes: int
    """How many the own mode has."""
    other_nodes: int
    places: tuple[Location, ...]
    """Each ``self.training`` that makes the difference; none where the graphs are the same."""
    entered: tuple[str, ...]
    """Paths of the modules that are called in the other mode."""
    other_error: str | None = None
    """Why the other mode cannot be traced, if it cannot."""


WIRE = Vocabulary(
    *(Overlay, TraceRequest, Cancel, Preload, Bye),
    *(Hello, Refused, Log, Stage, ReportMessage, FailureMessage, WorkerDied),
    *(Ready, Declined, CheckpointForked, Provisional, DumpStack),
    *(RecoveredMessage, ModeDifference),
)
"""Every message of this module."""
