"""Baseline of ``fxlsp check``: problems that are known, so that only new ones are reported.

{"version": 1, "problems": [{"file": "net.py", "code": "FX101", "scope": "Net.forward", "statement": "if x.sum() > 0:",
"count": 1}]}

An entry has no line: it stands for the problems of one code in one statement of one class, as many as ``count``. Lines
that move, statements that are added and edits elsewhere neither hide a new problem nor report a known one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fxlsp.cli.check.checked_trace import FrontendScope
from fxlsp.cli.check.fingerprints import Fingerprint, fingerprint_of
from fxlsp.cli.check.selection import CodeSelection
from fxlsp.cli.exit_codes import UsageError
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document

_VERSION = 1

Texts = Callable[[str], Document | None]
"""Returns the text of a file, None if it cannot be read."""


@dataclass(frozen=True)
class RunScope:
    """What a run could find: entries of other files and codes are not judged by it."""

    files: frozenset[str]
    """Real paths."""
    selection: CodeSelection
    frontends: FrontendScope = field(default_factory=FrontendScope)
    """Where it looked for problems of other front ends than torch.fx."""


class Baseline:
    """Known problems of one file, and which of them a run has found."""

    def __init__(self, path: Path, known: Iterable[tuple[Fingerprint, int]] = ()) -> None:
        self.path = path
        self._folder = str(path.resolve().parent)
        self._known: Counter[Fingerprint] = Counter()
        for entry, count in known:
            # Merged branches may have listed the same one twice.
            self._known[entry] += count
        self._found: Counter[Fingerprint] = Counter()

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Return the baseline of a file.

        Raises:
            UsageError: it does not exist or is none.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] != _VERSION:
                raise ValueError(f"version {data['version']}, and this fxlsp reads version {_VERSION}")
            return cls(path, [(_fingerprint(each), int(each["count"])) for each in data["problems"]])
        except FileNotFoundError:
            raise UsageError(f"there is no baseline {path}: write one by --baseline-mode write") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is no baseline: {type(error).__name__}: {error}") from error

    def remaining(self, problems: Iterable[Problem], document: Texts) -> list[Problem]:
        """Return the problems that are not known, and remember which known ones were found.

        Paths in a baseline are relative to its folder.
        """
        self._found = Counter()
        new = []
        for problem in problems:
            fingerprint = fingerprint_of(problem, document, self._folder)
            self._found[fingerprint] += 1
            if self._found[fingerprint] > self._known[fingerprint]:
                new.append(problem)
        return new

    def stale(self, scope: RunScope) -> list[tuple[Fingerprint, int]]:
        """Return the entries that the run did not find although it could, with the number that is missing."""
        return [
            (entry, count - self._found[entry])
            for entry, count in sorted(self._known.items())
            if self._found[entry] < count and self._is_in(scope, entry)
        ]

    def write_found(self, scope: RunScope) -> int:
        """Replace the entries that the run could find by what it found; return the number of problems in the file.

        Raises:
            OSError: it cannot be written. It is then unchanged.
        """
        others = Counter({entry: count for entry, count in self._known.items() if not self._is_in(scope, entry)})
        return self._write(others | self._found)

    def write_pruned(self, scope: RunScope) -> int:
        """Take the stale entries out of the file; return the number of problems in the file.

        Raises:
            OSError: it cannot be written. It is then unchanged.
        """
        left = Counter(self._known)
        left.subtract(dict(self.stale(scope)))
        return self._write(left)

    def _is_in(self, scope: RunScope, entry: Fingerprint) -> bool:
        if not scope.selection.includes(entry.code):
            return False
        # Without a place, the scope is the target of the model: ``net.py:Net``.
        file = entry.file or entry.scope.rpartition(":")[0]
        path = os.path.realpath(os.path.join(self._folder, file))
        if not scope.frontends.could_find(entry.code, path):
            return False
        return path in scope.files or not os.path.exists(path)

    def _write(self, entries: Counter[Fingerprint]) -> int:
        listed = [(entry, count) for entry, count in sorted(entries.items()) if count > 0]
        problems = [{**_fields(entry), "count": count} for entry, count in listed]
        written = self.path.with_name(self.path.name + ".new")
        written.write_text(json.dumps({"version": _VERSION, "problems": problems}, indent=1) + "\n", encoding="utf-8")
        written.replace(self.path)
        return sum(count for _, count in listed)


def _fields(entry: Fingerprint) -> dict[str, str]:
    return {"file": entry.file, "code": entry.code, "scope": entry.scope, "statement": entry.statement}


def _fingerprint(data: Any) -> Fingerprint:
    return Fingerprint(str(data["file"]), str(data["code"]), str(data["scope"]), str(data["statement"]))
