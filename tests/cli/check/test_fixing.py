"""``--fix`` writes what leaves the result unchanged, and nothing else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fxlsp.cli.check.fixing import apply_fixes
from fxlsp.cli.exit_codes import UsageError
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


def test_a_file_that_cannot_be_written_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.py"
    path.write_text(TEXT)

    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UsageError, match="No space left"):
        apply_fixes([problem(path, "FX315", "self.fc.forward(x)")], read)
    assert path.read_text() == TEXT
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    path, link = tmp_path / "net.py", tmp_path / "link.py"
    path.write_text(TEXT)
    path.chmod(0o755)
    link.symlink_to(path)
    assert apply_fixes([problem(link, "FX315", "self.fc.forward(x)")], read)
    assert link.is_symlink()
    assert "self.fc(x)" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_file_in_another_encoding_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    text = "# -*- coding: latin-1 -*-\n" + TEXT
    path.write_text(text)
    found, document = problem(path, "FX315", "self.fc.forward(x)"), read(str(path))
    path.write_bytes(text.encode("latin-1"))
    assert apply_fixes([found], lambda _: document) == []
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize(("layer", "is_written"), [("nn.ReLU()", True), ("nn.Linear(4, 4)", False)])
def test_a_layer_moves_to_the_constructor_only_if_it_has_no_weights(
    layer: str, is_written: bool, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text(TEXT.replace("self.fc.forward(x)  # é", f"{layer}(x)"))
    found = problem(path, "FX201", f"{layer}(x)")
    assert bool(apply_fixes([found], read)) is is_written
