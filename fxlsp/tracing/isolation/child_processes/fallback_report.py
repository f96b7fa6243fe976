"""Report of the plain pass alone, in case the process dies in the recovering pass.

Imports no torch: the supervisor of spawned workers uses this module and runs without torch.
"""

from __future__ import annotations

from dataclasses import replace

from ....wire.messages import ReportMessage

ENDED_EARLY = "ended early"
"""Reason for the missing result of the recovering pass in a report that is written before the real reason is known."""


def with_reason(answer: ReportMessage, why: str) -> ReportMessage:
    """Return the report with the real reason in its last problem.

    That problem is about the recovering pass.
    """
    *others, last = answer.report["problems"]
    last = {**last, "message": last["message"].replace(ENDED_EARLY, why, 1)}
    return replace(answer, report={**answer.report, "problems": [*others, last]})
