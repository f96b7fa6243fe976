"""What of a run is wanted: codes, shares, changed files; and comments that suppress nothing."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fxlsp.cli.check.selection import CodeSelection, Shard, changed_since, code_prefixes, shard
from fxlsp.cli.exit_codes import UsageError
from tests.cli.conftest import Fxlsp

PROJECT = Path(__file__).parents[3]

TEXT = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        a = x  # problem FX101
        b = x  # problem FX102
        c = x  # problem
        return c
"""


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    (tmp_path / "net.py").write_text(TEXT)

    def run(*arguments: str) -> Any:
        return fxlsp("check", ".", "--python", fake_python, *arguments)

    return run


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--select", "FX1"], ["FX101", "FX102"]),
        (["--select", "fx401, FX102"], ["FX401", "FX102"]),
        (["--ignore", "FX1"], ["FX401"]),
        (["--ignore", "FX1", "--select", "FX101,FX4"], ["FX401", "FX101"]),
        (["--select", "FX5"], []),
    ],
)
def test_codes_are_selected_by_their_beginnings_and_the_longer_one_counts(
    check: Any, options: list[str], codes: list[str]
) -> None:
    ran = check("--format", "json", *options)
    assert [problem["code"] for problem in ran.json["problems"]] == codes
    assert ran.code == (1 if codes else 0)


def test_statistics_count_codes_and_exit_zero_hides_the_code(check: Any) -> None:
    ran = check("--statistics", "--exit-zero")
    assert (ran.code, ran.out) == (0, "1  FX101  warning\n1  FX102  warning\n1  FX401  error\n")


def test_comments_that_suppress_nothing_are_named(check: Any, tmp_path: Path) -> None:
    text = TEXT.replace("# problem FX101", "# problem FX101  # fxlsp: ignore[FX101, FX3]")
    text = text.replace("return c", "return c  # fxlsp: ignore")
    (tmp_path / "net.py").write_text(text)
    ran = check()
    assert "net.py:6: this comment suppresses no problem of FX3 (# fxlsp: ignore)\n" in ran.out
    assert "net.py:9: this comment suppresses no problem (# fxlsp: ignore)\n" in ran.out
    assert [(each["line"], each["code"]) for each in check("--format", "json").json["unused_ignores"]] == [
        (6, "FX3"),
        (9, None),
    ]


def test_a_comment_is_not_judged_where_a_model_was_not_followed(check: Any, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(TEXT.replace("return c", "return c  # fxlsp: ignore  # fails"))
    assert check("--format", "json").json["unused_ignores"] == []


@pytest.mark.parametrize("text", ["", "FX", "FX9999", "E501", "FX101;FX102"])
def test_an_unknown_code_is_refused(text: str) -> None:
    if text == "FX":
        assert code_prefixes(text) == ("FX",)
    else:
        with pytest.raises(argparse.ArgumentTypeError):
            code_prefixes(text)


def test_selection_without_options_includes_everything() -> None:
    assert CodeSelection().includes("FX101")


def test_each_file_is_in_one_share_whatever_other_files_there_are() -> None:
    paths = [f"/w/m{number}.py" for number in range(200)]
    shares = [[path for path in paths if Shard(number, 4).includes(path, "/w")] for number in range(1, 5)]
    assert sorted(path for share in shares for path in share) == sorted(paths)
    assert all(len(share) > 20 for share in shares)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "/"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        shard(text)


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git, which is not installed")
def test_changed_files_and_those_that_import_them_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/blocks.py": "x = 1\n",
        "pkg/net.py": "from .blocks import x\n",
        "pkg/other.py": "import os\n",
        "train.py": "from pkg.net import x\n",
        "alone.py": "import pkg.other\n",
    }
    (tmp_path / "pkg").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]):
        subprocess.run(["git", *command], check=True)
    paths = [str(tmp_path / name) for name in files]
    assert changed_since("HEAD", paths) == []
    (tmp_path / "pkg" / "blocks.py").write_text("x = 2\n")
    (tmp_path / "new.py").write_text("")
    paths.append(str(tmp_path / "new.py"))
    monkeypatch.chdir(tmp_path / "pkg")
    found = [Path(path).relative_to(tmp_path).as_posix() for path in changed_since("HEAD", paths)]
    assert found == ["pkg/blocks.py", "pkg/net.py", "train.py", "new.py"]
    with pytest.raises(UsageError, match="git diff"):
        changed_since("no-such-revision", paths)


def test_the_options_of_the_page_are_those_of_the_command(fxlsp: Fxlsp) -> None:
    page = (PROJECT / "docs" / "check.md").read_text(encoding="utf-8")
    helped = fxlsp("check", "--help").out
    documented = set(re.findall(r"--[a-z][a-z-]*", page)) - {"--baseline-mode"}
    assert documented <= set(re.findall(r"--[a-z][a-z-]*", helped))
    assert set(re.findall(r"--[a-z][a-z-]*", helped)) - {"--help", "--output"} <= documented | {"--baseline-mode"}


def test_the_hook_of_pre_commit_runs_the_command(fxlsp: Fxlsp) -> None:
    hook = (PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert "language: system" in hook
    entry = re.search(r"entry: fxlsp (.*)", hook)
    assert entry is not None
    assert fxlsp(*entry[1].split(), "--help").code == 0
