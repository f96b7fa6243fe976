"""A mistake, the model into whose text it is put, and the problems that report it there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fxlsp.report.code_records import Severity
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem

MARK = "  # <-"
"""End of the line on which a problem belongs; no part of the text that is traced."""
INIT, FORWARD = "# init", "# forward"
"""Lines of a host in whose place snippets are put; without a snippet they go."""
MAY_WORK = "With other inputs this may work: "

Place = Literal["line", "named line", "anywhere"]
"""Where a problem reports a mistake: on the marked line, there or with that line as a related place, or in the file."""


class Edit(NamedTuple):
    """Replacement of the last ``old`` in a text, or of the last one up to the end of a line."""

    old: str
    new: str
    """Further lines of it begin in the column of ``old``."""
    line: int | None = None

    def applied(self, text: str, words: Iterable[tuple[str, str]]) -> str:
        """Return the text with the replacement; ValueError without ``old`` in it."""
        new = self.new
        for word, meant in words:
            new = new.replace(word, meant)
        start = text.rindex(self.old, 0, len("".join(text.splitlines(keepends=True)[: self.line])))
        indentation = " " * (start - text.rfind("\n", 0, start) - 1)
        return text[:start] + re.sub(r"\n(?!\n)", f"\n{indentation}", new) + text[start + len(self.old) :]


@dataclass(frozen=True)
class Mistake:
    """What is replaced in a model's text, and the problem that reports it."""

    kind: str
    edits: tuple[Edit, ...]
    codes: tuple[str, ...]
    """Codes that report it, or their beginnings."""
    severities: tuple[Severity, ...] = ("error",)
    place: Place = "line"
    mended_in: tuple[str, ...] = ()
    """Hosts in which other inputs mend it, so that it is a note where nothing states them."""
    is_look_alike: bool = False
    """Whether it is no mistake, and a problem that would report it a false alarm."""


@dataclass(frozen=True)
class Host:
    """Model that runs, into whose text mistakes are put."""

    kind: str
    name: str
    text: str
    made: str
    """Call of the class or function that makes it."""
    words: tuple[tuple[str, str], ...] = ()
    """What snippets leave open, and what stands for it here."""

    def broken(self, mistake: Mistake) -> BrokenModel:
        """Return the model with a mistake."""
        text = self.text
        for edit in mistake.edits:
            text = edit.applied(text, self.words)
        text = re.sub(rf"^ *({INIT}|{FORWARD})\n", "", text, flags=re.MULTILINE)
        marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
        return BrokenModel(self, mistake, text.replace(MARK, ""), marked[0] if marked else None)


@dataclass(frozen=True)
class BrokenModel:
    """Text of a host with one mistake."""

    host: Host
    mistake: Mistake
    text: str
    line: int | None
    """Where a problem belongs; None if no line is marked: then it is the constructor of the root."""

    def __str__(self) -> str:
        where = "" if self.line is None else f", line {self.line}: {self.text.splitlines()[self.line - 1].strip()}"
        return f"{self.mistake.kind} in {self.host.kind}:{self.host.name}{where}"

    def is_reported_by(self, problem: Problem, are_inputs_stated: bool = True) -> bool:
        """Return whether a problem reports the mistake as what it is, and where it is."""
        mistake = self.mistake
        is_note = not are_inputs_stated and self.host.name in mistake.mended_in
        if is_note and not problem.message.startswith(MAY_WORK):
            return False
        severities = ("info",) if is_note else mistake.severities
        if problem.severity not in severities or not problem.code.startswith(mistake.codes):
            return False
        related = problem.related if mistake.place == "named line" else ()
        places = (problem.location, *(each.location for each in related))
        return mistake.place == "anywhere" or any(map(self._is_here, places))

    def _is_here(self, place: Location | None) -> bool:
        if place is None:
            return False
        return place.function == "__init__" if self.line is None else place.line == self.line
