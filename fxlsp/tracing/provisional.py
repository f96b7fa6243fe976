"""The answer to give of a trace whose first pass is done, should its process not survive the second."""

from __future__ import annotations

from ..report.wire import Message

ENDED_EARLY = "ended early"
"""Why the second pass has nothing to tell, as the first process says it before it can know."""


def explained(answer: Message, why: str) -> Message:
    """The answer with the reason that came true in its last problem, which is about the second pass."""
    last = answer["report"]["problems"][-1]
    last["message"] = last["message"].replace(ENDED_EARLY, why, 1)
    return answer
