"""``--fix`` writes what leaves the result unchanged, and nothing else."""

from __future__ import annotations

from pathlib import Path

from fxlsp.cli.check.fixing import apply_fixes
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document, read_document

TEXT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.fc.forward(x)  # é
        y = self.fc.forward(x)
        return x.sum() if x.sum() > 0 else y
"""


def problem(path: Path, code: str, text: str, start: int = 0) -> Problem:
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next(number for number, each in enumerate(lines, 1) if text in each and number > start)
    column = lines[line - 1].index(text) + 1
    return Problem(code, "warning", "m", Location(str(path), line, column, line, column + len(text)))


def read(path: str) -> Document:
    return read_document(path).program


def test_preferred_fixes_are_written_once_and_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    first, second = (problem(path, "FX315", "self.fc.forward(x)", start) for start in (0, 11))
    choice = problem(path, "FX101", "x.sum() > 0")
    applied = apply_fixes([first, second, first, choice], read)
    assert [(each.line, each.title) for each in applied] == [(11, applied[0].title), (12, applied[0].title)]
    assert path.read_bytes() == TEXT.replace("self.fc.forward(x)", "self.fc(x)").replace("\n", "\r\n").encode()


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(TEXT)
    document = read(str(path))
    found = problem(path, "FX315", "self.fc.forward(x)")
    path.write_text("# other\n" + TEXT)
    assert apply_fixes([found], lambda _: document) == []
    assert path.read_text() == "# other\n" + TEXT
