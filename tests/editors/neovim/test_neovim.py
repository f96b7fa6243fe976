"""The plugin in the real Neovim, with the real server and the real torch."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.editors.models import LIST, NET, TWICE
from tests.editors.neovim.conftest import Play, block_after


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a few files of one model each."""
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder, "net.py", NET)
    (folder / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\n', encoding="utf-8")
    return folder


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("project")
def test_hover_tells_the_shapes_of_an_expression(play: Play) -> None:
    play("hover", "net.py")


@pytest.mark.usefixtures("project")
def test_lenses_are_shown_kept_up_to_date_and_do_what_they_say(play: Play) -> None:
    play("lenses", "net.py")


@pytest.mark.usefixtures("project")
def test_hints_follow_an_edit_that_is_not_saved(play: Play) -> None:
    play("hints", "net.py")


@pytest.mark.usefixtures("project")
def test_one_variable_turns_hints_off(play: Play) -> None:
    play("hints_off", "net.py", before="vim.g.fxlsp_hints = false")


def test_a_problem_is_shown_and_goes_when_its_quick_fix_is_applied(play: Play, project: Path) -> None:
    write(project, "list.py", LIST)
    play("problems", "list.py")


def test_an_instance_is_picked_from_the_list_of_the_editor(play: Play, project: Path) -> None:
    write(project, "twice.py", TWICE)
    play("instance", "twice.py")


def test_a_recipe_is_picked_from_the_list_of_the_editor(play: Play, project: Path) -> None:
    write(project, "net.py", f"{NET}Net()(torch.randn(7, 3))\n")
    play("recipe", "net.py")


@pytest.mark.usefixtures("project")
def test_the_graph_opens_at_the_node_under_the_cursor(play: Play) -> None:
    play("graph", "net.py")


def test_a_buffer_without_a_name_is_traced(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT_OF_BUFFER", NET)
    play("untitled")


def test_two_folders_are_traced_each_with_its_own_interpreter(play: Play, project: Path) -> None:
    for name in ("one", "other"):
        write(project / name, "net.py", NET)
        (project / name / "pyproject.toml").touch()
        environment = project / name / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        (packages,) = environment.glob("lib/python*/site-packages")
        lines = {each for each in sys.path if Path(each).name == "site-packages"} | {sysconfig.get_path("purelib")}
        (packages / "torch.pth").write_text("\n".join(lines), encoding="utf-8")
    play("two_folders")


@pytest.mark.usefixtures("project")
def test_nothing_runs_before_a_lens_is_trusted_and_that_is_remembered_until_it_is_taken_back(play: Play) -> None:
    play("trust_granted", "net.py", trusted=False, before="require('harness').select({})")
    play("trust_remembered", "net.py", trusted=False, before="require('harness').select({})")


@pytest.mark.usefixtures("project")
def test_trust_is_given_by_the_answer_to_the_one_question(play: Play) -> None:
    play("trust_by_answer", trusted=False)
    play("hints", "net.py", trusted=False)


@pytest.mark.usefixtures("project")
def test_who_does_not_trust_a_project_is_not_asked_again(play: Play) -> None:
    play("trust_refused", trusted=False)
    play("trust_not_asked_again", "net.py", trusted=False, before="require('harness').select({})")


@pytest.mark.usefixtures("project")
def test_the_server_is_restarted(play: Play) -> None:
    play("restart", "net.py")


@pytest.mark.usefixtures("project")
def test_a_server_that_was_killed_is_started_by_its_user(play: Play) -> None:
    play("killed", "net.py")


@pytest.mark.usefixtures("project")
def test_the_health_check_says_what_is_right_and_what_is_wrong(play: Play) -> None:
    play("health", "net.py")


def test_the_command_completes_what_can_be_said(play: Play, project: Path) -> None:
    write(project, "twice.py", TWICE)
    play("completion", "twice.py")


def test_the_help_and_the_page_tell_every_command(play: Play) -> None:
    play("help")


def test_a_setting_is_given_as_the_page_says(play: Play, project: Path, home: Path) -> None:
    write(project, "list.py", LIST.replace("self.head(x)", "self.head(self.head(x))"))
    play("problems_told", "list.py")
    with (home / ".config" / "nvim" / "init.lua").open("a", encoding="utf-8") as configuration:
        configuration.write(block_after("## Settings"))
    play("problem_ignored", "list.py")
