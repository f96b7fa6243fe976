"""The real Neovim, with the configuration that the page on it shows, running one script a test.

Neovim is what ``python -m dev.editors.neovim`` installs. Where there is none the tests are left out, and fail under
``CI``.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from dev.editors.neovim import find_neovim
from dev.environment import PROJECT
from tests.editors.models import SECONDS
from tests.editors.user import code_after, environment_of, install, need, shell_after
from tests.support.fork_server import MARK
from tests.support.leftovers import await_gone

HERE = Path(__file__).parent
PAGE = PROJECT / "editors" / "neovim.md"


@dataclass(frozen=True)
class Session:
    """A Neovim that runs a script."""

    process: subprocess.Popen[bytes]
    outcome: Path
    output: Path
    log: Path

    def check(self) -> None:
        """Waits until the script has ended; it has to have passed."""
        deadline = time.monotonic() + 3 * SECONDS
        while not self.outcome.exists() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        told = self.outcome.read_text(encoding="utf-8").strip() if self.outcome.exists() else "the script did not end"
        assert told == "passed", f"{told}\n{_end_of(self.output)}{_end_of(self.log)}"

    def wait(self) -> None:
        """Until Neovim has ended."""
        self.process.wait(3 * SECONDS)


class Begin(Protocol):
    """Runs ``scripts/NAME.lua`` in a Neovim that has opened the files; ``stays`` when the script has ended."""

    def __call__(
        self, name: str, *files: str, trusted: bool = ..., before: str = ..., stays: bool = ...
    ) -> Session: ...


class Play(Protocol):
    """The same until it has passed, Neovim has ended, and nothing is left of it."""

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


def commands_after(heading: str) -> str:
    return shell_after(PAGE, heading)


@pytest.fixture
def begin(neovim: str, home: Path, tmp_path: Path, mark: str) -> Iterator[Begin]:
    begun: list[Session] = []

    def begin(name: str, *files: str, trusted: bool = True, before: str = "", stays: bool = False) -> Session:
        outcome = tmp_path / "outcome.txt"
        outcome.unlink(missing_ok=True)
        harness = f"package.path = '{HERE}/lua/?.lua;' .. package.path"
        script = HERE / "scripts" / f"{name}.lua"
        command = [neovim, "--headless", "-i", "NONE", "-n", "--cmd", f"lua {harness}"]
        command += ["--cmd", f"lua {before}"] if before else []
        command += ["-c", f"lua require('harness').play('{script}', '{outcome}', {str(stays).lower()})", *files]
        environment = environment_of(home) | {"FXLSP_TEST_SECONDS": str(SECONDS), MARK: mark}
        if trusted:
            environment["FXLSP_TRUST"] = "1"
        folder, output = tmp_path / "project", tmp_path / "output.txt"
        folder.mkdir(exist_ok=True)
        with output.open("wb") as written:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=written
            )
        begun.append(Session(process, outcome, output, home / ".local" / "state" / "nvim" / "lsp.log"))
        return begun[-1]

    yield begin
    for session in begun:
        session.process.kill()
        session.wait()


@pytest.fixture
def play(begin: Begin, mark: str) -> Play:
    def play(name: str, *files: str, trusted: bool = True, before: str = "") -> None:
        session = begin(name, *files, trusted=trusted, before=before)
        session.check()
        session.wait()
        await_gone(mark)

    return play


def _end_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")[-4000:] if file.exists() else ""
