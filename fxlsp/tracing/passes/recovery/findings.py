"""Findings: reasons for which ``torch.fx`` fails, or records something else."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ...model.locations.code_origin import is_installed
from ...model.locations.source_map import CallStack


@dataclass(frozen=True)
class RecoveryFinding:
    """One reason at one expression."""

    code: str
    error: BaseException | None
    """The exception of torch.fx or Python; None if none is raised."""
    call_stack: CallStack
    """The user's expressions that were running, outermost first; empty if there was none."""
    module_path: str
    remark: str = ""
    """Inside which layer of torch it is, and how the pass continued, if that was a choice."""
    module: torch.nn.Module | None = None
    """The module that is not registered, for findings about one."""
    caught: bool = False
    """Whether the model itself catches ``error``."""
    headline: str = ""
    """Which sizes do not fit, if ``error`` is that of an operation and this is known."""


class RecoveryFindings:
    """Findings in order, each code once at each expression of each module.

    An expression of an installed package counts once for each of the calls that lead to it.
    """

    def __init__(self) -> None:
        self.all: list[RecoveryFinding] = []
        self.last: RecoveryFinding | None = None
        """The last one added, even if it was already known."""
        self._seen: set[tuple[object, ...]] = set()

    def note(self, finding: RecoveryFinding, at: int | None = None) -> None:
        """Add a finding unless the same was met here before.

        ``at`` inserts it at this index, and removes later findings of the same expression.
        """
        self.last = finding
        place = finding.call_stack[-1] if finding.call_stack else None
        is_in_package = place is not None and is_installed(place.code.co_filename)
        key = (
            finding.code,
            finding.call_stack if is_in_package else place,
            finding.module_path,
            str(finding.error) if place is None else None,
        )
        if at is not None:
            self.all = [known for index, known in enumerate(self.all) if index < at or _place(known) != _place(finding)]
            self.all.insert(at, finding)
        elif key not in self._seen:
            self.all.append(finding)
        self._seen.add(key)

    def __len__(self) -> int:
        return len(self.all)


def _place(finding: RecoveryFinding) -> object:
    """Return what a finding shares with others of the same expression."""
    return finding.code, finding.call_stack[-1:], finding.module_path
