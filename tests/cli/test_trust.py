"""``fxlsp trust``: the stored decisions of the user on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Fxlsp


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("FXLSP_TRUST", raising=False)
    return tmp_path / "state" / "fxlsp" / "trusted.json"


def test_a_folder_is_trusted_listed_and_forgotten(fxlsp: Fxlsp, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert fxlsp("trust", "--list").out == ""
    assert fxlsp("trust", "link").code == 0
    assert fxlsp("trust").code == 0
    assert fxlsp("trust", "--list").out.splitlines() == [str(tmp_path), str(tmp_path / "project")]
    assert fxlsp("trust", "--forget", "project").code == 0
    assert fxlsp("trust", "--list").out == ""


def test_one_that_is_gone_can_be_forgotten_and_not_trusted(fxlsp: Fxlsp, tmp_path: Path) -> None:
    ran = fxlsp("trust", "gone")
    assert (ran.code, ran.err) == (2, "fxlsp: there is no folder gone\n")
    (tmp_path / "gone").mkdir()
    fxlsp("trust", "gone")
    (tmp_path / "gone").rmdir()
    fxlsp("trust", "--forget", "gone")
    assert fxlsp("trust", "--list").out == ""


def test_where_it_cannot_be_stored_the_command_fails(fxlsp: Fxlsp, state: Path) -> None:
    state.parent.parent.write_text("a file")
    ran = fxlsp("trust")
    assert (ran.code, str(state) in ran.err) == (2, True)


def test_doctor_shows_a_stored_decision(fxlsp: Fxlsp, tmp_path: Path, state: Path) -> None:
    fxlsp("trust")
    rows = json.loads(fxlsp("doctor", "--python", "no-such-python", "--format", "json").out)["settings"]
    (row,) = [row for row in rows if row["key"] == "trusted"]
    assert (row["value"], row["origin"]) == (True, f"{state}, unless the editor decides")
