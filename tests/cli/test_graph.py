"""``fxlsp graph`` as a process, and what it refuses before it traces anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Fxlsp
from tests.support import warm

PROJECT = Path(__file__).parents[2]


def graph(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*warm.fxlsp(), "graph", *arguments, "--python", sys.executable]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_page_of_a_model_with_problems_is_written_and_its_path_alone_printed(tmp_path: Path) -> None:
    ran = graph(tmp_path, f"{PROJECT}/examples/early_exit.py:EarlyExit", "-o", "early.html", "--link", "none")
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "early.html\n", "")
    page = (tmp_path / "early.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert '"code":"FX101"' in page


def test_without_a_file_the_page_goes_to_the_cache(
    fxlsp: Fxlsp, model_file: Path, fake_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    ran = fxlsp("graph", "model.py:Net", "--python", fake_python)
    assert (ran.code, ran.err) == (0, "")
    path = Path(ran.out.strip())
    assert path.parent == tmp_path / "cache" / "fxlsp" / "graphs"
    assert path.name.startswith("Net-")
    assert fxlsp("graph", "model.py:Net", "--python", fake_python).out == ran.out
    assert sorted(tmp_path.glob("*.html")) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "net.pdf"), "ends in .html or .svg"),
        (("-o", "nowhere/net.html"), "there is no folder"),
        (("--depth", "-1"), "a number of 0 or more"),
        (("--link", "emacs"), "neither one of vscode"),
        (("--link", "javascript:alert({file})"), "runs code"),
    ],
)
def test_what_cannot_be_followed_is_bad_usage_before_anything_is_traced(
    fxlsp: Fxlsp, model_file: Path, fake_python: str, options: tuple[str, ...], words: str
) -> None:
    ran = fxlsp("graph", "model.py:Net", *options, "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert not (model_file.parent / "log.jsonl").exists()


def test_svg_without_an_engine_says_what_to_install(
    fxlsp: Fxlsp, model_file: Path, fake_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.graphview.svg._PACKAGE", "there_is_no_such_engine")
    ran = fxlsp("graph", "model.py:Net", "-o", "net.svg", "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'fxlsp[svg]'" in ran.err
    assert not (model_file.parent / "net.svg").exists()


def test_a_target_that_is_not_there_has_no_graph(fxlsp: Fxlsp, fake_python: str, tmp_path: Path) -> None:
    ran = fxlsp("graph", "missing.py:Net", "-o", "net.html", "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no file missing.py" in ran.err
    assert not (tmp_path / "net.html").exists()
