"""Where the second pass of a trace runs: beside the first in a process of its own, or after it in the same one."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable

from ..wire.messages import RecoveredMessage, ReportMessage, TraceRequest
from .provisional import ENDED_EARLY


class NoResultError(Exception):
    """A second pass has nothing to tell; the message says why."""


class Second(ABC):
    """The second pass of one request."""

    @abstractmethod
    def begin(self, request: TraceRequest) -> None:
        """Give it its request; the first one counts."""

    @abstractmethod
    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        """What it found, within these limits.

        Raises:
            NoResultError: it found nothing.
        """


class Afterwards(Second):
    """Runs in the process of the first pass, after it, when its result is asked for.

    Its limits are those of the process, which whoever watches that keeps: this one may not live to tell anything.
    """

    def __init__(
        self, work: Callable[[TraceRequest], RecoveredMessage], foresee: Callable[[ReportMessage], None]
    ) -> None:
        """
        Args:
            work: the second pass of a request.
            foresee: is told, before that, what to answer should this process not survive it.
        """
        self.foresee = foresee
        self._work = work
        self._request: TraceRequest | None = None

    def begin(self, request: TraceRequest) -> None:
        if self._request is None:
            self._request = request

    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        assert self._request is not None
        # What the first pass made is not collected otherwise, and counts where memory is limited.
        gc.collect()
        try:
            return self._work(self._request)
        except BaseException as error:
            # What fails here is ours, or the user's in a way that the first pass did not meet.
            raise NoResultError(ENDED_EARLY) from error
