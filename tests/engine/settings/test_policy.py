"""Severity of problems, by settings or by whether torch.fx is used."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fxlsp.engine.running.engine import Engine
from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.folders import ClientSettings
from fxlsp.report.codes import severity_of
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document, TextEdit, uri_of_path
from tests.support.waiting import eventually_async


def test_by_default_everything_is_as_severe_as_the_code_says() -> None:
    policy = Policy.of(Settings(), "fx")
    assert [policy.severity(code, severity_of(code)) for code in ("FX101", "FX205", "FX401")] == [
        "warning",
        "hint",
        "error",
    ]


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("FX101", "hint"),
        ("FX201", "hint"),
        ("FX206", "hint"),
        ("FX301", "hint"),
        ("FX401", "error"),
        ("FX402", "hint"),
        ("FX501", "info"),
        ("FX904", "warning"),
    ],
)
def test_who_does_not_use_torch_fx_gets_hints_about_it(code: str, severity: str) -> None:
    assert Policy.of(Settings(), "shapes").severity(code, severity_of(code)) == severity


def test_the_longest_code_that_was_set_counts() -> None:
    settings = Settings(severities={"FX1": "error", "FX101": "info", "FX2": "off", "FX204": "warning"})
    policy = Policy.of(settings, "shapes")
    told = {code: policy.severity(code, severity_of(code)) for code in ("FX101", "FX102", "FX201", "FX204", "FX301")}
    assert told == {"FX101": "info", "FX102": "error", "FX201": None, "FX204": "warning", "FX301": "hint"}


def test_ignored_codes_are_not_reported_unless_a_longer_one_is_set() -> None:
    settings = Settings(severities={"FX101": "error", "FX401": "error"}, ignore=("FX1", "FX401"))
    problems = [Problem(code, severity_of(code), "", None) for code in ("FX101", "FX102", "FX401", "FX904")]
    applied = Policy.of(settings, "fx").applied(problems)
    assert [(problem.code, problem.severity) for problem in applied] == [("FX101", "error"), ("FX904", "warning")]


class Opened:
    """Engine that is not trusted, so that no code runs."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.engine = Engine([str(folder)], ClientSettings(settings))

    @property
    def policy(self) -> Policy:
        return self.engine.snapshot.policy_of(str(self.folder / "a.py"))

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def open(self, name: str, text: str) -> str:
        path = str(self.folder / name)
        self.engine.open(Document(uri_of_path(path), path, 1, text))
        return path

    async def until(self, profile: str, reason: str) -> None:
        await eventually_async(lambda: (self.policy.profile, self.policy.reason) == (profile, reason))


@pytest_asyncio.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Any]:
    made: list[Opened] = []

    def make(**settings: Any) -> Opened:
        made.append(Opened(tmp_path.resolve(), **settings))
        return made[-1]

    yield make
    for each in made:
        await each.engine.shutdown()


USES = "import torch.fx\n"


async def test_a_file_of_the_workspace_that_uses_torch_fx_decides(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "export.py").write_text(USES)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "installed.py").write_text(USES)
    await opened().until("fx", "export.py uses torch.fx")


async def test_without_such_a_file_the_profile_is_shapes_and_follows_what_is_written(opened: Any) -> None:
    session = opened()
    await session.until("shapes", "no file uses torch.fx")
    path = session.write("tool.py", USES)
    session.engine.changed_on_disk([path])
    await session.until("fx", "tool.py uses torch.fx")
    session.write("tool.py", "import torch\n")
    session.engine.changed_on_disk([path])
    await session.until("shapes", "no file uses torch.fx")


async def test_an_open_document_counts_as_it_is(opened: Any) -> None:
    session = opened()
    await session.until("shapes", "no file uses torch.fx")
    path = session.open("tool.py", USES)
    await session.until("fx", "tool.py uses torch.fx")
    session.engine.change(path, [TextEdit(0, len(USES), "import torch\n")], 2)
    await session.until("shapes", "no file uses torch.fx")


async def test_the_setting_wins_and_says_where_it_is(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(USES)
    await opened(profile="shapes").until("shapes", "set in the editor's settings")
    (tmp_path / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\nseverities.FX1 = "off"\n')
    session = opened()
    await session.until("fx", "set in pyproject.toml")
    assert session.policy.severity("FX101", "warning") is None
