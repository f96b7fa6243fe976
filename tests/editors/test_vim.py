"""Vim with ALE, configured as its page says, with the real server and the real torch."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dev.editors.classic_editors import ALE, find_vim
from dev.environment import PROJECT
from tests.editors.models import LIST, SECONDS
from tests.editors.user import code_after, environment_of, install, need
from tests.support.fork_server import MARK

SCRIPT = Path(__file__).with_name("ale.vim")


def test_ale_shows_hover_and_problems(tmp_path: Path, mark: str) -> None:
    vim = need(find_vim(), "Vim with ALE")
    home, project, outcome = tmp_path / "home", tmp_path / "project", tmp_path / "outcome.txt"
    install(home)
    project.mkdir()
    (project / "list.py").write_text(LIST, encoding="utf-8")
    (project / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\n', encoding="utf-8")
    block = code_after(PROJECT / "editors" / "vim.md", "## ALE")
    start = f"set nocompatible encoding=utf-8\nset runtimepath^={ALE}\nfiletype plugin on\n"
    (home / ".vimrc").write_text(start + block, encoding="utf-8")
    told = {"FXLSP_TRUST": "1", "FXLSP_TEST_OUTCOME": str(outcome), "FXLSP_TEST_SECONDS": str(SECONDS), MARK: mark}
    subprocess.run(
        [vim, "--not-a-term", "-T", "dumb", "-n", "-i", "NONE", "-S", str(SCRIPT), "list.py"],
        cwd=project,
        env=environment_of(home) | told,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=4 * SECONDS,
        check=False,
    )
    assert outcome.read_text(encoding="utf-8").strip() == "passed"
