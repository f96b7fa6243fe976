"""What comes of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fxlsp.report.problems import Failure
from fxlsp.report.report import Report
from fxlsp.wire.messages import FailureMessage, ReportMessage


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


def outcome_of(message: ReportMessage | FailureMessage) -> Outcome:
    """The outcome that the answer to a request holds.

    Raises:
        KeyError, TypeError, AttributeError: it holds no report or failure.
    """
    reads = {read.path: read.digest for read in message.reads}
    if isinstance(message, ReportMessage):
        return Outcome(Report.from_json(message.report), None, reads, message.imports)
    return Outcome(None, Failure.from_json(message.failure), reads, message.imports)
