"""What every form writes: models, problems, and the names of both that stay the same from run to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fxlsp.cli.check.fingerprints import Fingerprint, relative_path
from fxlsp.cli.check.results import ModelEntry
from fxlsp.report.problems import Problem


@dataclass(frozen=True)
class CheckedRun:
    """Results of one run, as the forms for other programs need them."""

    entries: Sequence[ModelEntry]
    fingerprints: Sequence[tuple[Problem, Fingerprint]]
    """Each problem with what names it."""
    folder: str
    """Absolute path of the folder that paths are relative to."""
    seconds: float

    @property
    def problems(self) -> list[Problem]:
        return [problem for problem, _ in self.fingerprints]

    def path(self, file: str) -> str:
        """Return the path of a file as it is written: relative to the folder, with slashes."""
        return relative_path(file, self.folder)

    def digests(self) -> Iterator[tuple[Problem, str]]:
        """Yield each problem with a text that names it in later runs too, whatever line it is on.

        Problems of one code in one statement are numbered in their order.
        """
        counts: Counter[Fingerprint] = Counter()
        for problem, fingerprint in self.fingerprints:
            number = counts[fingerprint]
            counts[fingerprint] += 1
            yield problem, fingerprint.digest if not number else f"{fingerprint.digest}-{number}"


def headline(problem: Problem) -> str:
    """Return the first line of a problem's message."""
    first, *_ = problem.message.splitlines() or [""]
    return " ".join(first.split())
