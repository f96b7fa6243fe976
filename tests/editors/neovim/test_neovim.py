"""The plugin in the real Neovim, with the real server and the real torch."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from dev.environment import PROJECT
from fxlsp import __version__
from tests.editors.fixes import FIXED
from tests.editors.models import LIST, NET, TWICE
from tests.editors.neovim.conftest import PAGE, Begin, Play, block_after, commands_after
from tests.editors.user import environment_of
from tests.support.leftovers import await_gone, processes
from tests.support.waiting import eventually


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


def make_environment(folder: Path) -> None:
    """A virtual environment that has the torch of the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    lines = {each for each in sys.path if Path(each).name == "site-packages"} | {sysconfig.get_path("purelib")}
    (packages / "torch.pth").write_text("\n".join(lines), encoding="utf-8")


def test_three_steps_lead_from_the_readme_to_the_first_shapes(play: Play, project: Path, home: Path) -> None:
    assert "[editors/neovim.md](editors/neovim.md), three steps" in (PROJECT / "README.md").read_text(encoding="utf-8")
    steps = re.findall(r"^## (\d)\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert steps == ["1", "2", "3"]
    # The second one is taken by the fixture, the third by the script, which answers the question.
    shutil.rmtree(home / "bin")
    subprocess.run([sys.executable, "-m", "venv", str(home / "tools")], check=True)
    (home / "bin").symlink_to(home / "tools" / "bin")
    commands = commands_after("## 1. Install")
    installed = subprocess.run(
        ["sh", "-e", "-c", commands], env=environment_of(home), capture_output=True, text=True, check=False
    )
    assert f"fxlsp {__version__}" in installed.stdout, installed.stderr
    make_environment(project / ".venv")
    play("trust_by_answer", trusted=False)


@pytest.mark.usefixtures("project")
def test_hover_shows_the_shapes_of_an_expression(play: Play) -> None:
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


def test_each_quick_fix_does_what_it_says(play: Play, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for fixed in FIXED:
        write(project, f"{fixed.name}.py", fixed.before)
    examples = project / "fixes.json"
    examples.write_text(json.dumps([fixed.to_json() for fixed in FIXED]), encoding="utf-8")
    monkeypatch.setenv("FIXES_TO_APPLY", str(examples))
    play("fixes")


def test_an_instance_is_picked_from_the_list_of_the_editor(play: Play, project: Path) -> None:
    write(project, "twice.py", TWICE)
    play("instance", "twice.py")


def test_a_recipe_is_picked_from_the_list_of_the_editor(play: Play, project: Path) -> None:
    write(project, "net.py", f"{NET}Net()(torch.randn(7, 3))\n")
    play("recipe", "net.py")


def test_a_run_is_recorded_in_a_terminal_and_counts_from_then_on(play: Play, project: Path) -> None:
    write(project, "net.py", NET.replace("Net()(torch.randn(2, 3))", ""))
    write(
        project, "train.py", "import torch\nfrom net import Net\n\nfor _ in range(2):\n    Net()(torch.randn(9, 3))\n"
    )
    play("record", "net.py")


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
        make_environment(project / name / ".venv")
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
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM], ids=lambda how: how.name)
def test_nothing_is_left_of_a_neovim_that_is_ended_from_outside(begin: Begin, mark: str, how: signal.Signals) -> None:
    session = begin("hints", "net.py", stays=True)
    session.check()
    assert len(processes(mark)) > 2
    session.process.send_signal(how)
    session.wait()
    await_gone(mark)


@pytest.mark.usefixtures("project")
def test_nothing_is_left_of_a_neovim_that_is_left_while_it_traces(play: Play) -> None:
    play("left_at_once", "net.py")


@pytest.mark.usefixtures("project")
def test_nothing_is_left_of_a_server_that_was_killed(begin: Begin, mark: str) -> None:
    session = begin("server_killed", "net.py", stays=True)
    session.check()

    def is_there(command: str) -> bool:
        return any(command in each for each in processes(mark).values())

    eventually(lambda: not is_there("fxlsp"), lambda: f"processes are left: {processes(mark)}")
    assert session.process.poll() is None


@pytest.mark.usefixtures("project")
def test_the_health_check_says_what_is_right_and_what_is_wrong(play: Play) -> None:
    play("health", "net.py")


def test_the_command_completes_what_can_be_said(play: Play, project: Path) -> None:
    write(project, "twice.py", TWICE)
    play("completion", "twice.py")


def test_the_help_and_the_page_list_every_command(play: Play) -> None:
    play("help")


def test_a_setting_is_given_as_the_page_says(play: Play, project: Path, home: Path) -> None:
    write(project, "list.py", LIST.replace("self.head(x)", "self.head(self.head(x))"))
    play("problems_told", "list.py")
    with (home / ".config" / "nvim" / "init.lua").open("a", encoding="utf-8") as configuration:
        configuration.write(block_after("## Settings"))
    play("problem_ignored", "list.py")
