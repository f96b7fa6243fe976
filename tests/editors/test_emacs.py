"""Emacs with eglot or lsp-mode, configured as its page says, with the real server and the real torch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dev.editors.classic_editors import find_emacs
from dev.environment import PROJECT
from tests.editors.models import LIST, SECONDS
from tests.editors.user import code_after, environment_of, install, need
from tests.support.fork_server import MARK

HERE = Path(__file__).parent


@pytest.mark.parametrize(("heading", "script"), [("## eglot", "eglot.el"), ("## lsp-mode", "lsp_mode.el")])
def test_emacs_shows_hover_and_problems_once_the_project_is_trusted(
    heading: str,
    script: str,
    tmp_path: Path,
    mark: str,
) -> None:
    emacs = need(find_emacs(), "Emacs with eglot and lsp-mode")
    home, project = tmp_path / "home", tmp_path / "project"
    install(home)
    project.mkdir()
    (project / "list.py").write_text(LIST, encoding="utf-8")
    (project / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\n', encoding="utf-8")
    configuration = home / "init.el"
    configuration.write_text(code_after(PROJECT / "editors" / "emacs.md", heading), encoding="utf-8")
    ran = subprocess.run(
        [emacs, "--batch", "--eval", "(package-initialize)", "-l", str(configuration), "-l", str(HERE / script)],
        cwd=project,
        env=environment_of(home) | {"FXLSP_TEST_SECONDS": str(SECONDS), MARK: mark},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=4 * SECONDS,
        check=False,
    )
    assert "passed" in ran.stderr.splitlines(), ran.stderr
