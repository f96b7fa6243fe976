"""Stored trust is believed only if the user alone can have written it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxlsp.engine.storage.index_files import IndexFile
from fxlsp.engine.storage.trusted_folders import TrustedFolders
from fxlsp.engine.storage.user_choices_file import UserChoicesFile
from tests.engine.storage.stores import ENTRY, OLD


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes of POSIX")
def test_what_is_written_is_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = tmp_path / "made" / "fxlsp"
        TrustedFolders(folder).add(["/project"])
        UserChoicesFile("/project", folder).write({OLD: ENTRY})
        IndexFile("index", "/project", folder).write({"a": 1})
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes of POSIX")
@pytest.mark.parametrize("case", ["file for all", "file for the group", "folder for all", "folder for the group"])
def test_trust_that_others_can_change_is_not_believed(case: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    stored = TrustedFolders(tmp_path)
    stored.add(["/project"])
    assert stored.read() == {"/project"}
    changed = stored.path if case.startswith("file") else tmp_path
    changed.chmod(0o777 if case.endswith("all") else 0o770)
    assert stored.read() == frozenset()
    # The next decision closes it, and what others may have written is gone.
    stored.add(["/other"])
    assert stored.read() == {"/other"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_trust_that_belongs_to_another_user_is_not_believed(what: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    stored = TrustedFolders(tmp_path)
    stored.add(["/project"])
    os.chown(stored.path if what == "file" else tmp_path, 12345, -1)
    assert stored.read() == (frozenset({"/project"}) if os.geteuid() == 12345 else frozenset())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="links of POSIX")
def test_trust_behind_a_link_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "linked").mkdir(0o700)
    TrustedFolders(tmp_path / "real").add(["/project"])
    (tmp_path / "linked" / "trusted.json").symlink_to(tmp_path / "real" / "trusted.json")
    assert TrustedFolders(tmp_path / "linked").read() == frozenset()


def test_to_forget_a_folder_forgets_those_around_it_and_in_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    stored = TrustedFolders(tmp_path)
    stored.add(["/a", "/a/b", "/a/b/c", "/a/bc", "/d"])
    stored.remove(["/a/b"])
    assert stored.read() == {"/a/bc", "/d"}
