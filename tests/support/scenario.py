"""Scenarios: files, steps of a user and answers of the server in one file.

    What is shown, in a sentence or two.

    == untrusted                       the workspace is not trusted; optional
    == settings
    {"hints": false}                   the settings of the editor, as JSON; optional
    == net.py
    y = self.⟨call⟩fc(x)               a file; a mark names the place after it and is not part of the file
    == on disk: blocks.py
    class Block(nn.Module): ...        a file that is not opened
    >> hover call
    2:5-2:15 `self.fc(x)`              the golden answer, up to the next step
    >> type fc => head
    >> hints
    ...

Places are lines and code points from 1, so the answers are the same for clients of every encoding.
``FXLSP_WRITE_SCENARIOS=1 pytest tests/server/test_scenarios.py`` rewrites the answers; review them before you
commit them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dev.rpc import Json

_SECTION = "== "
_STEP = ">> "
_ON_DISK = "on disk: "
_MARK = re.compile(r"⟨(\w+)⟩")


@dataclass(frozen=True)
class ScenarioFile:
    name: str
    text: str
    marks: Mapping[str, int]
    """Offsets in ``text``."""
    is_open: bool


@dataclass(frozen=True)
class Step:
    verb: str
    argument: str
    answer: str
    """The golden answer; "" for a step without one."""

    @property
    def heading(self) -> str:
        return f"{_STEP}{self.verb} {self.argument}".rstrip()


@dataclass(frozen=True)
class Scenario:
    head: str
    """The text of the scenario before its first step, unchanged."""
    files: tuple[ScenarioFile, ...]
    steps: tuple[Step, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)
    is_trusted: bool = True

    def place(self, mark: str) -> tuple[ScenarioFile, int]:
        """Return the file and offset of a mark.

        Raises:
            KeyError: no file has it.
        """
        for file in self.files:
            if mark in file.marks:
                return file, file.marks[mark]
        raise KeyError(f"no file has the mark ⟨{mark}⟩")

    def write_files(self, folder: Path) -> None:
        for file in self.files:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8", newline="")

    def text(self, answers: list[str]) -> str:
        """Return the text of the scenario file, with these answers to its steps."""
        parts = [f"{step.heading}\n{answer}" for step, answer in zip(self.steps, answers, strict=True)]
        return self.head + "".join(parts)


def read_scenario(path: Path) -> Scenario:
    """Parse the file of a scenario."""
    head, *steps = _split(path.read_text(encoding="utf-8"), _STEP)
    _, *sections = _split(head, _SECTION)
    named = [section.removeprefix(_SECTION).partition("\n")[::2] for section in sections]
    settings: Json = next((json.loads(text) for name, text in named if name == "settings"), {})
    files = tuple(_file(name, text) for name, text in named if name not in ("settings", "untrusted"))
    return Scenario(head, files, tuple(map(_step, steps)), settings, ("untrusted", "") not in named)


def _split(text: str, start: str) -> list[str]:
    """Split a text before each line that starts with ``start``."""
    return re.split(f"(?m)^(?={re.escape(start)})", text)


def _file(name: str, marked: str) -> ScenarioFile:
    marks = dict(_marks(marked))
    assert len(marks) == len(_MARK.findall(marked)), f"a mark occurs twice in {name}"
    return ScenarioFile(name.removeprefix(_ON_DISK), _MARK.sub("", marked), marks, not name.startswith(_ON_DISK))


def _marks(marked: str) -> Iterator[tuple[str, int]]:
    removed = 0
    for found in _MARK.finditer(marked):
        yield found[1], found.start() - removed
        removed += len(found[0])


def _step(text: str) -> Step:
    heading, _, answer = text.partition("\n")
    verb, _, argument = heading.removeprefix(_STEP).partition(" ")
    return Step(verb, argument, answer)
