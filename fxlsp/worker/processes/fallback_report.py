"""The answer to give of a trace whose first pass is done, should its process not survive the second."""

from __future__ import annotations

from dataclasses import replace

from ...wire.messages import ReportMessage

ENDED_EARLY = "ended early"
"""Why the second pass has nothing to tell, as the first process says it before it can know."""


def with_reason(answer: ReportMessage, why: str) -> ReportMessage:
    """Return the answer with the reason that came true in its last problem, which is about the second pass."""
    *others, last = answer.report["problems"]
    last = {**last, "message": last["message"].replace(ENDED_EARLY, why, 1)}
    return replace(answer, report={**answer.report, "problems": [*others, last]})
