"""What the VS Code extension declares, held against what the server takes and the pages say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fxlsp import __version__
from fxlsp.engine.settings.settings import Settings
from fxlsp.ide.fixes.fix import FixContext
from fxlsp.ide.fixes.registry import FIXERS
from fxlsp.ide.problems import MovedNumber
from fxlsp.report.problems import FittingNumber
from fxlsp.server.main import make_server
from fxlsp.source.python.python_tree import python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from tests.ide.fixing import fixers_of_torch_fx
from tests.test_reference_pages import TABLES, rows

PROJECT = Path(__file__).parents[1]
EXTENSION = PROJECT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
CONTRIBUTED = MANIFEST["contributes"]
SETTINGS: dict[str, dict[str, Any]] = {
    name.removeprefix("fxlsp."): setting for name, setting in CONTRIBUTED["configuration"]["properties"].items()
}
COMMANDS = {command["command"] for command in CONTRIBUTED["commands"]}

OWN_SETTINGS = {"server.python", "server.command", "trace.server"}
OWN_COMMANDS = {"fxlsp.restartServer", "fxlsp.showLog", "fxlsp.debugInformation"}
GIVEN_BY_THE_EDITOR = {"trusted"}
"""VS Code has its own trust, by workspace."""
DATA = {"fxlsp.recipes", "fxlsp.instances", "fxlsp.information"}
"""Commands that answer with data, for pickers and debug information: nobody would run them by hand."""


def test_every_setting_of_the_page_can_be_set_in_vs_code_and_no_other() -> None:
    assert set(SETTINGS) - OWN_SETTINGS == set(rows("settings.md")) - GIVEN_BY_THE_EDITOR


def test_the_settings_have_the_servers_defaults() -> None:
    for key, default in Settings().values():
        if key not in GIVEN_BY_THE_EDITOR:
            assert SETTINGS[key]["default"] == (default or None if default in ([], None) else default), key
    assert all(SETTINGS[key]["default"] == {} for key in TABLES)


def test_settings_that_name_programs_or_code_wait_for_trust() -> None:
    restricted = set(MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"])
    assert restricted == {
        f"fxlsp.{key}"
        for key in ("python", "recipes", "record.command", "tracer", "wrap", "server.python", "server.command")
    }


def test_every_command_of_the_server_is_in_the_palette_and_no_other() -> None:
    assert set(make_server().protocol.fm.commands) - DATA == COMMANDS - OWN_COMMANDS


def test_every_command_and_setting_has_words() -> None:
    assert all(command["title"] and command["category"] == "fxlsp" for command in CONTRIBUTED["commands"])
    assert all(setting["markdownDescription"].endswith(".") for setting in SETTINGS.values())


def test_the_extension_is_of_the_servers_version() -> None:
    assert MANIFEST["version"] == re.split(r"[a-z.]*dev", __version__)[0]


def test_the_walkthrough_has_four_steps_whose_pages_and_commands_are_there() -> None:
    (walkthrough,) = CONTRIBUTED["walkthroughs"]
    assert len(walkthrough["steps"]) == 4
    for step in walkthrough["steps"]:
        assert (EXTENSION / step["media"]["markdown"]).exists()
        own = [command for command in re.findall(r"command:([\w.]+)", step["description"]) if "fxlsp" in command]
        assert set(own) <= COMMANDS
        assert "`" not in step["description"], "VS Code shows it as it is there"


@pytest.mark.parametrize("name", ["package-lock.json"])
def test_the_lock_names_no_registry(name: str) -> None:
    assert '"resolved"' not in (EXTENSION / name).read_text(encoding="utf-8")


def test_every_fix_of_the_server_has_a_problem_in_the_file_on_which_vs_code_tries_them() -> None:
    path = EXTENSION / "test" / "workspace" / "fixes.py"
    command = [sys.executable, "-m", "fxlsp", "check", str(path), "--format", "json"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    document = Document(path.as_uri(), str(path), 1, path.read_text(encoding="utf-8"))
    tree = python_tree(document)
    assert tree is not None
    complaints = [
        FixContext(tree, each["code"], _span(each["location"]), _number(each))
        for each in json.loads(checked.stdout)["problems"]
    ]
    tried = {fixer for each in complaints for fixer in FIXERS.get(each.code, ()) if any(fixer(each))}
    assert tried == fixers_of_torch_fx()


def _number(problem: dict[str, Any]) -> MovedNumber | None:
    number = FittingNumber.from_json(problem["fitting"]) if "fitting" in problem else None
    return None if number is None else MovedNumber(number, _span(problem["fitting"]["location"]))


def _span(location: dict[str, Any]) -> Span:
    return Span(*(location[key] for key in ("line", "column", "end_line", "end_column")))
