"""Messages between server, supervisor and workers: the definition of the protocol.

The server is connected to a supervisor by a socket::

    server                          supervisor
      |  <- hello | refused            |     once: it can trace, or cannot
      |  overlay*, trace, cancel ->    |     any number, several traces at once
      |  <- stage*, early*, then one   |
      |     of report, frontend,        |
      |     failure, failed            |     for each trace that is not cancelled
      |  preload ->                    |
      |  bye ->                        |     or the end of the connection

The supervisor is connected to each worker by pipes. A forked worker receives one :class:`TraceRequest`; a spawned one
may receive :class:`Preload` before it, and :class:`DumpStack` at any time. What a worker sends for the server is
forwarded unchanged; :class:`Ready`, :class:`Declined`, :class:`CheckpointForked` and :class:`Provisional` are for the
supervisor. A worker forwards its request to a side process, which answers with :class:`RecoveredMessage`,
:class:`ModeDifference`, :class:`SymbolsMessage` or :class:`ShapesMessage`.

Fields have the names that they have on the wire; ``type`` is the name of a message there. :data:`PROTOCOL` is
incremented when either side must not be older.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ..report.frontends import FrontendVerdict, OtherFrontend
from ..report.locations import Location
from ..report.problems import Problem
from ..report.recipes import Recipe, RecipeSource
from ..report.report import Report
from ..report.serialization import UNLESS_DEFAULT, JsonObject
from ..report.sizes import ANY_SIZES, Sizes
from ..report.symbolic_sizes import SymbolicSizes
from ..report.tracer_choice import TORCH_FX, TracerChoice
from .vocabulary import Vocabulary, WireMessage

PROTOCOL = 1
"""Version of this protocol."""

# From the server to the supervisor.


@dataclass(frozen=True, slots=True)
class Overlay(WireMessage):
    """Text of an unsaved buffer.

    Sent once for each state of the buffer, before the first trace that names it.
    """

    type: ClassVar[str] = "overlay"
    path: str
    digest: str
    """Digest of the text (:func:`.frames.text_digest`)."""
    text: str


@dataclass(frozen=True, slots=True)
class TraceTarget(JsonObject):
    """Model to trace, defined either by ``file`` or by ``module``."""

    name: str
    """Qualified name of a class, factory or instance in that file or module."""
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Absolute path of the file that defines the model."""
    module: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Dotted name of the module that defines the model, found on the ``sys.path`` of the interpreter."""

    def __str__(self) -> str:
        """Return the model's public name: ``file.py:Name`` or ``package.module:Name``."""
        return f"{self.file or self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class RecipeGuess(JsonObject):
    """Recipe that an earlier trace of the model found by search."""

    init: str
    inputs: str | None
    sizes_note: str = field(default="", metadata=UNLESS_DEFAULT)
    """Which preferred sizes these inputs do not have, since the model does not run with them."""


@dataclass(frozen=True, slots=True)
class RecipeRequest(JsonObject):
    """Recipe of a model, and the alternatives to try if it does not work."""

    init: str | None = None
    """Expression that constructs the model; None leaves it to conventions, defaults and search."""
    inputs: str | None = None
    """Arguments of the model's call; None leaves them to conventions, defaults and search."""
    source: RecipeSource | None = None
    """Where ``init`` and ``inputs`` come from; None if neither is given."""
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Path of the file whose names ``init`` and ``inputs`` use, if it is not the model's own file."""
    only: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether the user chose this recipe: if it does not work, nothing else is tried."""
    alternatives: tuple[Recipe, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """Recipes to try in order if ``init`` and ``inputs`` do not work."""
    guess: RecipeGuess | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Recipe to try before another search."""

    @classmethod
    def of(cls, recipe: Recipe | None) -> RecipeRequest:
        """Return a request for one recipe; for None a request without any."""
        return cls() if recipe is None else cls(recipe.init or None, recipe.inputs, recipe.source, recipe.file)


START_SECONDS = 180.0
"""Time limit for the start of an interpreter that imports torch.

That takes a minute from a network disk, or beside other starts. A process that ends is noticed at once."""


@dataclass(frozen=True, slots=True)
class Limits(JsonObject):
    """What a trace may use."""

    seconds: float = 10.0
    """Wall time after which the trace is killed."""
    megabytes: float = 4096
    """Resident memory above which the trace is killed."""
    processes: int = 32
    """Number of processes above which the trace is killed."""
    open_files: int = 4096
    """Number of files that each of its processes may have open."""
    written_megabytes: float = 1024
    """Space that its temporary files may take; above it the trace is killed."""


LimitKind = Literal["time", "memory", "processes", "written"]


@dataclass(frozen=True, slots=True)
class TraceRequest(WireMessage):
    """Request for one trace.

    Sent by the server to the supervisor, by that to a worker, and by the worker to the process of the recovering pass.
    """

    type: ClassVar[str] = "trace"
    target: TraceTarget
    recipe: RecipeRequest = RecipeRequest()
    overlays: Mapping[str, str] = field(default_factory=dict)
    """Digests of unsaved texts by path, for files that are to be read from the editor."""
    roots: tuple[str, ...] = ()
    """Workspace folders; modules below them are the user's own."""
    tracer: TracerChoice = TORCH_FX
    """Settings of the tracer."""
    sizes: Sizes = ANY_SIZES
    """Preferred sizes of inputs that have to be guessed."""
    limits: Limits = Limits()
    id: int = 0
    """Number of the request, repeated in its answers. Assigned by the connection that sends it."""
    symbols: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether sizes are wanted as expressions of symbols too, as :class:`SymbolicSizes`."""
    early: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether the graph is wanted before the problems are known, as :class:`EarlyReport`."""
    frontend: OtherFrontend | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Front end other than torch.fx whose verdict is wanted, as :class:`FrontendMessage`, in the place of a report. The
    recipe must be complete."""
    fixed_sizes: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether torch.export is asked for the sizes of the inputs alone, as :class:`FrontendMessage` demands."""
    texts: Mapping[str, str] = field(default_factory=dict, metadata=UNLESS_DEFAULT)
    """Texts of the ``overlays`` by path. The supervisor receives them separately, as :class:`Overlay`; a worker in its
    request, by real path."""


@dataclass(frozen=True, slots=True)
class Cancel(WireMessage):
    """Cancellation of a trace: it is killed, and nothing more of it is sent."""

    type: ClassVar[str] = "cancel"
    id: int


@dataclass(frozen=True, slots=True)
class Preload(WireMessage):
    """Request to import installed packages ahead of the models that import them."""

    type: ClassVar[str] = "preload"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bye(WireMessage):
    """End of the connection: the supervisor exits with all its workers."""

    type: ClassVar[str] = "bye"


# From the supervisor to the server, and from a spawned worker to the supervisor.


@dataclass(frozen=True, slots=True)
class Hello(WireMessage):
    """Greeting, sent once, when a trace can be requested."""

    type: ClassVar[str] = "hello"
    protocol: int
    """:data:`PROTOCOL` of the process. With another version, no other field needs to be present."""
    python: str = "?"
    torch: str = "?"
    executable: str = ""
    pid: int | None = None
    fork: bool = True
    """Whether traces run in forked processes."""
    positions: bool = True
    """Whether the interpreter records columns of expressions (Python 3.11)."""
    contained: tuple[str, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """What the operating system itself refuses to the code of a model: ``files`` for changes outside a temporary
    folder, ``calls`` for connections, programs and signals to fxlsp. Python's audit hook refuses both everywhere."""
    remark: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Warning for the log. Only from a worker to the supervisor, which sends it as :class:`Log`."""


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
    """Lower-case name of a level of :mod:`logging`."""
    message: str = ""


# From a worker through the supervisor to the server.


@dataclass(frozen=True, slots=True)
class Stage(WireMessage):
    """Stage that a trace has entered."""

    type: ClassVar[str] = "stage"
    id: int
    name: str
    """``load``, ``construct``, ``search``, ``trace``, ``values`` or ``checks``; of another front end also its name."""


@dataclass(frozen=True, slots=True)
class FileRead(JsonObject):
    """Workspace file that was executed, with the digest of its text."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class EarlyReport(WireMessage):
    """Graph of a trace, sent while the recovering pass is still under way, or the import of the model's package.

    A further graph may follow, and replaces this one. A :class:`ReportMessage` follows, unless the worker dies.
    """

    type: ClassVar[str] = "early"
    id: int
    report: dict[str, Any]
    """JSON of a :class:`~..report.report.Report` without problems."""
    reads: tuple[FileRead, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportMessage(WireMessage):
    """Result of a trace."""

    type: ClassVar[str] = "report"
    id: int
    report: dict[str, Any]
    """JSON of a :class:`~..report.report.Report`, sometimes megabytes: decoded only where it is used."""
    reads: tuple[FileRead, ...] = ()
    imports: tuple[str, ...] = ()
    """Third-party packages that the trace loaded."""
    follows_early: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether nodes, modules and calls are those of the last :class:`EarlyReport`, and missing here."""
    symbolic: SymbolicSizes | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Expressions for the sizes of that graph, if known: those requested, and those that depend on data."""


@dataclass(frozen=True, slots=True)
class FrontendMessage(WireMessage):
    """Verdict of another front end than torch.fx."""

    type: ClassVar[str] = "frontend"
    id: int
    verdict: FrontendVerdict
    needs_fixed_sizes: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether the verdict holds only if torch.export takes the sizes of the inputs, which the same request with
    ``fixed_sizes`` finds out. It needs another worker: packages keep what the first export gave them."""


@dataclass(frozen=True, slots=True)
class FailureMessage(WireMessage):
    """Reason why a model has no graph."""

    type: ClassVar[str] = "failure"
    id: int
    failure: dict[str, Any]
    """JSON of a :class:`~..report.problems.Failure`."""
    reads: tuple[FileRead, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StackFrame(JsonObject):
    """Stack frame as faulthandler writes it: a line without columns."""

    file: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class WorkerDied(WireMessage):
    """Death of a worker before its result, as the supervisor saw it."""

    type: ClassVar[str] = "failed"
    id: int
    stage: str | None = None
    """Last stage that the worker entered; ``start`` before any."""
    exit: int | None = None
    """Exit code; None if a signal killed the worker."""
    signal: int | None = None
    limit: LimitKind | None = None
    """Limit at which the worker was killed, if it was."""
    stack: tuple[StackFrame, ...] = ()
    """Running frames, innermost first."""
    stderr_tail: str = ""
    """End of the worker's standard error."""


# From a worker to the supervisor, which does not forward these.


@dataclass(frozen=True, slots=True)
class Ready(WireMessage):
    """Readiness of a worker to trace at once; sent again after each :class:`Preload`."""

    type: ClassVar[str] = "ready"


@dataclass(frozen=True, slots=True)
class Declined(WireMessage):
    """Refusal of a worker that was forked from a checkpoint.

    An input of the checkpoint has changed since. Another worker takes the request.
    """

    type: ClassVar[str] = "declined"


@dataclass(frozen=True, slots=True)
class CheckpointForked(WireMessage):
    """Start of a checkpoint, from which later traces of the same file can be forked."""

    type: ClassVar[str] = "holder"
    pid: int


@dataclass(frozen=True, slots=True)
class Provisional(WireMessage):
    """Announcement of a fallback report.

    The next frame, a :class:`ReportMessage`, is the answer if the worker dies before it sends another.
    """

    type: ClassVar[str] = "provisional"


# From the supervisor to a spawned worker.


@dataclass(frozen=True, slots=True)
class DumpStack(WireMessage):
    """Request to write the running stack to a file in the scratch folder at once."""

    type: ClassVar[str] = "tell"


# From a side process to the worker that forked it.


@dataclass(frozen=True, slots=True)
class RecoveredMessage(WireMessage):
    """Result of the recovering pass."""

    type: ClassVar[str] = "recovered"
    report: Report
    findings: tuple[Problem, ...]
    """Problems of a graph that plain torch.fx made."""
    followed: tuple[int, ...]
    """Indexes of the report's nodes that depend on the model's inputs."""


@dataclass(frozen=True, slots=True)
class ModeDifference(WireMessage):
    """Difference between the graphs of the model's own mode and of the other one.

    The modes are train and eval.
    """

    type: ClassVar[str] = "mode"
    training: bool
    """Whether the model's own mode is train."""
    nodes: int
    """Number of nodes in the model's own mode."""
    other_nodes: int
    """Number of nodes in the other mode."""
    places: tuple[Location, ...]
    """Each ``self.training`` that causes the difference; none if the graphs are the same."""
    entered: tuple[str, ...]
    """Paths of the modules that are called in the other mode."""
    other_error: str | None = None
    """Error of tracing in the other mode, if any."""


@dataclass(frozen=True, slots=True)
class SymbolsMessage(WireMessage):
    """Sizes of a graph as expressions of symbols."""

    type: ClassVar[str] = "symbols"
    sizes: SymbolicSizes | None = None
    """None if no dimension of the inputs may vary."""


@dataclass(frozen=True, slots=True)
class ShapesMessage(WireMessage):
    """Shapes of the nodes of a graph at other sizes of the inputs."""

    type: ClassVar[str] = "shapes"
    runs: tuple[dict[str, Any], ...] = ()
    """By name of the node, of each run."""


WIRE = Vocabulary(
    *(Overlay, TraceRequest, Cancel, Preload, Bye),
    *(Hello, Refused, Log, Stage, EarlyReport, ReportMessage, FrontendMessage, FailureMessage, WorkerDied),
    *(Ready, Declined, CheckpointForked, Provisional, DumpStack),
    *(RecoveredMessage, ModeDifference, SymbolsMessage, ShapesMessage),
)
"""All messages of this module."""
