"""The pages that list settings and commands, held against what fxlsp takes; and no link in the documents is dead."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fxlsp.engine.settings.settings import Settings
from fxlsp.server.main import make_server

PROJECT = Path(__file__).parents[1]
FOLDERS = ("docs", "docs/design", "editors")
PAGES = [
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(page for folder in FOLDERS for page in sorted((PROJECT / folder).glob("*.md"))),
]
TABLES = ("recipes", "severities")
"""Settings whose keys are the user's."""


def rows(page: str) -> dict[str, list[str]]:
    """The further cells of each row of the page's first table, by the name in the first."""
    found = {}
    for line in (PROJECT / "docs" / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `"):
            found[cells[0].strip("| `")] = cells[1:]
    return found


def test_the_page_on_settings_lists_every_setting_and_no_other() -> None:
    assert set(rows("settings.md")) == {*(key for key, _ in Settings().values()), *TABLES}


def test_the_page_on_settings_gives_the_defaults() -> None:
    table = rows("settings.md")
    for key, default in Settings().values():
        told = re.fullmatch(r"`(.*)`", table[key][0])
        if told is not None:
            assert json.loads(told[1]) == default, key
        elif isinstance(default, int | float) and not isinstance(default, bool):
            assert table[key][0].split()[0] == f"{default:g}", key
        else:
            assert default in (None, []), key


def test_the_page_on_commands_lists_every_command_and_no_other() -> None:
    assert set(rows("commands.md")) == set(make_server().protocol.fm.commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_what_a_page_links_to_is_there(page: Path) -> None:
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_our_source_files_that_a_page_names_are_there(page: Path) -> None:
    ours = [
        path.as_posix()
        for top in ("fxlsp", "tests", "benchmarks", "dev", "editors/vscode")
        for path in Path(PROJECT, top).rglob("*.py")
    ]
    named = re.findall(r"`(?!torch/)([\w./-]+\.py)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in ours)] == []
