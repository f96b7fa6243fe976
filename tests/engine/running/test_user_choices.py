"""The user's choices are available in the next session."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from platformdirs import PlatformDirsABC
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.running import user_choices
from fxlsp.engine.running.user_choices import UserChoices
from fxlsp.engine.state.folders import ClientSettings, read_folder
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.pinned_recipes import PinnedRecipe
from fxlsp.engine.state.session import Session
from fxlsp.engine.storage.user_choices_file import ChoiceKey, InvalidFileError, UserChoicesFile
from fxlsp.engine.storage.user_dirs import cache_folder, state_folder
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span
from tests.support.waiting import eventually_async

CALL = Recipe("Net(32)", "torch.randn(2, 8)", "call-site", "/elsewhere/train.py")
COMMENT = FoundRecipe(Recipe("Net(1)", None, "comment"), Span(3, 1, 3, 9))
SITE = FoundRecipe(CALL, Span(7, 1, 7, 9), "/elsewhere/train.py")
PIN = PinnedRecipe(CALL, (COMMENT, SITE))
INSTANCE = ForwardInstance("/project/net.py", "Net", "layers.1", 1)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(user_choices, "_PAUSE", 0.0)
    # A server created in this process has taken over the log for its editor.
    monkeypatch.setattr(logging.getLogger("fxlsp"), "propagate", True)
    return tmp_path / "state" / "fxlsp"


class Sitting:
    """One session with the folder ``project``, and its choices."""

    def __init__(self, folder: Path, *names: str) -> None:
        folders = [folder / name for name in names or ("project",)]
        for each in folders:
            each.mkdir(exist_ok=True)
        self.session = Session(tuple(read_folder(str(each), ClientSettings({})) for each in folders))
        self.choices = UserChoices(self.session)
        self.choices.read_folders()


def net(folder: Path, name: str = "Net", file: str = "net.py") -> SymbolId:
    return SymbolId(str(folder / "project" / file), name)


def files(state: Path) -> dict[str, str]:
    """Return the texts of all files, by name."""
    return {path.name: path.read_text() for path in state.iterdir()} if state.exists() else {}


async def test_a_later_session_knows_them(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    first.session.set_pinned_recipe(net(tmp_path), PIN)
    first.session.set_instance(net(tmp_path, "Block"), INSTANCE)
    await first.choices.close()
    second = Sitting(tmp_path)
    assert second.session.instances == {net(tmp_path, "Block"): INSTANCE}
    (pinned_recipe,) = second.session.pinned_recipes.values()
    assert pinned_recipe.recipe == CALL
    assert [each.recipe for each in pinned_recipe.known] == [COMMENT.recipe]


async def test_they_are_written_soon_and_without_a_goodbye(tmp_path: Path, state: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.choices.schedule_write()
    assert files(state) == {}
    sitting.session.set_pinned_recipe(net(tmp_path), PIN)
    sitting.choices.schedule_write()
    await eventually_async(lambda: Sitting(tmp_path).session.pinned_recipes)
    await sitting.choices.close()
    assert [name[:8] for name in files(state)] == ["choices-"]


async def test_one_that_is_taken_back_is_forgotten(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    first.session.set_pinned_recipe(net(tmp_path), PIN)
    await first.choices.close()
    second = Sitting(tmp_path)
    second.session.set_pinned_recipe(net(tmp_path), None)
    await second.choices.close()
    assert Sitting(tmp_path).session.pinned_recipes == {}


async def test_of_two_servers_each_keeps_what_it_changed(tmp_path: Path) -> None:
    both = Sitting(tmp_path), Sitting(tmp_path)
    for sitting, name in zip(both, ("One", "Two"), strict=True):
        sitting.session.set_pinned_recipe(net(tmp_path, name), PIN)
        await sitting.choices.close()
    assert Sitting(tmp_path).session.pinned_recipes.keys() == {net(tmp_path, "One"), net(tmp_path, "Two")}


async def test_each_folder_has_a_file_and_paths_in_it_are_relative(tmp_path: Path, state: Path) -> None:
    sitting = Sitting(tmp_path, "project", "other")
    outside = SymbolId(str(tmp_path / "lone.py"), "Net")
    (tmp_path / "project" / "sub").mkdir()
    places = [net(tmp_path, file="sub/net.py"), SymbolId(str(tmp_path / "other" / "a.py"), "A"), outside]
    for place in places:
        sitting.session.set_instance(place, INSTANCE)
    await sitting.choices.close()
    told = {data["folder"]: list(data["instances"]) for data in map(json.loads, files(state).values())}
    assert told == {
        str(tmp_path / "project"): sorted([outside.path, os.path.join("sub", "net.py")]),
        str(tmp_path / "other"): ["a.py"],
    }
    again = Sitting(tmp_path, "project", "other")
    assert again.session.instances.keys() == set(places)


async def test_those_about_buffers_that_no_file_holds_end_with_the_session(tmp_path: Path, state: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.session.set_pinned_recipe(SymbolId(str(tmp_path / "untitled" / "Untitled-1.py"), "Net"), PIN)
    await sitting.choices.close()
    assert files(state) == {}


async def test_a_folder_that_comes_later_brings_its_own_and_changes_none(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    first.session.set_instance(net(tmp_path), INSTANCE)
    await first.choices.close()
    second = Sitting(tmp_path, "other")
    newer = ForwardInstance("/project/net.py", "Net", "layers.2", 1)
    second.session.set_instance(net(tmp_path), newer)
    second.session.set_folders(Sitting(tmp_path).session.folders)
    second.choices.read_folders()
    assert second.session.instances == {net(tmp_path): newer}


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "\0", '{"version": 7}', '{"version": 1, "recipes": 3}', "[" * 9999]
)
async def test_a_broken_file_is_reported_once_kept_and_replaced_by_the_next_choice(
    content: str, tmp_path: Path, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fxlsp")
    path = UserChoicesFile(str(tmp_path / "project")).path
    path.parent.mkdir(parents=True)
    path.write_text(content)
    sitting = Sitting(tmp_path)
    assert sitting.session.pinned_recipes == {}
    assert path.read_text() == content
    sitting.session.set_pinned_recipe(net(tmp_path), PIN)
    await sitting.choices.close()
    assert len(caplog.records) == 1
    assert str(path) in caplog.messages[0]
    assert Sitting(tmp_path).session.pinned_recipes.keys() == {net(tmp_path)}


@pytest.mark.parametrize("entry", [3, [], {}, {"recipe": {}, "comments": []}, {"recipe": None, "comments": None}])
async def test_an_entry_that_makes_no_sense_costs_no_other(entry: object, tmp_path: Path) -> None:
    unhashable = {"recipe": {"init": [], "inputs": None, "source": "comment"}, "comments": []}
    entries = {ChoiceKey("recipes", "net.py", "Odd"): entry, ChoiceKey("recipes", "net.py", "List"): unhashable}
    UserChoicesFile(str(tmp_path / "project")).write({**entries, ChoiceKey("recipes", "net.py", "Net"): PIN.to_json()})
    sitting = Sitting(tmp_path)
    assert sitting.session.pinned_recipes.keys() == {net(tmp_path)}
    sitting.session.set_pinned_recipe(net(tmp_path), None)
    await sitting.choices.close()
    assert UserChoicesFile(str(tmp_path / "project")).read() == {
        key: each for key, each in entries.items() if each is not None
    }


async def test_where_nothing_can_be_written_the_choice_holds_for_the_session(
    tmp_path: Path, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fxlsp")
    state.parent.write_text("a file in the place of the folder")
    sitting = Sitting(tmp_path)
    sitting.session.set_pinned_recipe(net(tmp_path), PIN)
    await sitting.choices.close()
    assert sitting.session.pinned_recipes == {net(tmp_path): PIN}
    assert "holds for this session alone" in caplog.messages[-1]


def test_no_half_written_file_is_left(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = UserChoicesFile(str(tmp_path))
    file.write({ChoiceKey("recipes", "net.py", "Net"): PIN.to_json()})
    before = files(state)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("fxlsp.engine.storage.user_dirs.os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        file.write({})
    assert files(state) == before


def test_files_of_no_folder_have_a_file_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert UserChoicesFile("").path != UserChoicesFile(str(tmp_path)).path


@pytest.mark.parametrize(
    ("system", "state", "cache"),
    [
        (Unix, ".local/state/fxlsp", ".cache/fxlsp"),
        (MacOS, "Library/Application Support/fxlsp", "Library/Caches/fxlsp"),
        (Windows, "Local/fxlsp", "Local/fxlsp"),
    ],
)
def test_the_users_folders_follow_the_system(
    system: type[PlatformDirsABC], state: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.engine.storage.user_dirs.PlatformDirs", system)
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda _: str(tmp_path / "Local"))
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (state_folder(), cache_folder()) == (tmp_path / state, tmp_path / cache)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "chosen"))
    assert state_folder() == tmp_path / "chosen" / "fxlsp"


def test_the_users_folders_are_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxlsp.engine.storage.user_dirs.PlatformDirs", Unix)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "fxlsp"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    file = UserChoicesFile(str(tmp_path))
    file.path.mkdir(parents=True)
    with pytest.raises(InvalidFileError, match="IsADirectoryError"):
        file.read()
