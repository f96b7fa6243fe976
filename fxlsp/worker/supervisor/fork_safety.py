"""What a forked process would share with the one that it is forked from, or do without: reasons not to fork it."""

from __future__ import annotations

import os
from typing import NamedTuple

import torch


class Surroundings(NamedTuple):
    """Of this process. Two that are equal mean that nothing came in between."""

    threads: int
    """They are not there in a forked process, but what they hold stays locked."""
    descriptors: frozenset[str]
    """Both would read on from the same place."""
    shared_memory: int
    """How many pieces can be written to, for both."""
    accelerator: bool
    priority: int
    """Forked processes inherit it, and cannot raise it again."""

    @classmethod
    def now(cls) -> Surroundings:
        """Raises OSError where the system does not tell."""
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            shared = sum(line.split(" ", 2)[1] == "rw-s" for line in maps)
        return cls(
            len(os.listdir("/proc/self/task")),
            frozenset(os.listdir("/proc/self/fd")),
            shared,
            torch.cuda.is_initialized(),  # type: ignore[no-untyped-call]
            os.nice(0),
        )
