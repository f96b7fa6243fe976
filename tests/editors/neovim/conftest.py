"""The real Neovim, with the configuration that the page on it shows, running one script a test.

Neovim is what ``python -m dev.neovim`` installs. Where there is none the tests are left out, and fail under ``CI``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from dev.environment import PROJECT
from dev.neovim import find_neovim
from tests.editors.models import SECONDS
from tests.editors.user import code_after, environment_of, install, need
from tests.server.conftest import MARK, await_gone, mark

__all__ = ["mark"]

HERE = Path(__file__).parent
PAGE = PROJECT / "editors" / "neovim.md"


class Play(Protocol):
    """Runs ``scripts/NAME.lua`` in a Neovim that has opened the files."""

    def __call__(self, name: str, *files: str, trusted: bool = ..., before: str = ...) -> None: ...


@pytest.fixture
def neovim() -> str:
    return need(find_neovim(), "Neovim")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of a user who did what the page says."""
    folder = tmp_path / "home"
    configuration = folder / ".config" / "nvim" / "init.lua"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(block_after("## 2. Enable"), encoding="utf-8")
    (folder / "fxlsp").symlink_to(PROJECT)
    install(folder)
    return folder


def block_after(heading: str) -> str:
    return code_after(PAGE, heading)


@pytest.fixture
def play(neovim: str, home: Path, tmp_path: Path, mark: str) -> Iterator[Play]:
    def play(name: str, *files: str, trusted: bool = True, before: str = "") -> None:
        outcome = tmp_path / "outcome.txt"
        outcome.unlink(missing_ok=True)
        harness = f"package.path = '{HERE}/lua/?.lua;' .. package.path"
        script = HERE / "scripts" / f"{name}.lua"
        command = [neovim, "--headless", "-i", "NONE", "-n", "--cmd", f"lua {harness}"]
        command += ["--cmd", f"lua {before}"] if before else []
        command += ["-c", f"lua require('harness').play('{script}', '{outcome}')", *files]
        environment = environment_of(home) | {"FXLSP_TEST_SECONDS": str(SECONDS), MARK: mark}
        if trusted:
            environment["FXLSP_TRUST"] = "1"
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=3 * SECONDS, check=False
        )
        told = outcome.read_text(encoding="utf-8").strip() if outcome.exists() else "the script did not end"
        assert told == "passed", f"{told}\n{ran.stdout}{ran.stderr}{_log(home)}"
        await_gone(mark)

    yield play
    await_gone(mark)


def _log(home: Path) -> str:
    log = home / ".local" / "state" / "nvim" / "lsp.log"
    return log.read_text(encoding="utf-8", errors="replace")[-4000:] if log.exists() else ""
