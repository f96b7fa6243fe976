"""What fxlsp stores survives crashes, full disks, folders that cannot be written to, and other servers."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from fxlsp.engine.index.scan import read_index
from fxlsp.engine.storage import folder_lock
from fxlsp.engine.storage.index_files import IndexFile
from fxlsp.engine.storage.trusted_folders import TrustedFolders
from fxlsp.engine.storage.user_choices_file import ChoiceKey, UserChoicesFile
from fxlsp.engine.storage.user_dirs import cache_folder, state_folder, write_atomically
from tests.engine.storage.stores import ENTRY, MODEL, OLD, STORES, Stored
from tests.support.waiting import PATIENCE


class FailingCalls:
    """The calls by which files are written; the n-th of all fails."""

    def __init__(self, patch: pytest.MonkeyPatch, nth: int, error: BaseException) -> None:
        self.left, self.error, self.names = nth, error, [""]
        for owner, name in (
            (tempfile, "mkstemp"),
            *((os, name) for name in ("fsync", "link", "replace", "mkdir", "unlink")),
        ):
            patch.setattr(owner, name, self._counted(name, getattr(owner, name)))
        patch.setattr("builtins.open", self._opened(open))

    def _count(self, name: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.names.append(name)
            raise self.error

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._count(name)
            return function(*args, **kwargs)

        return call

    def _opened(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            opened = function(file, mode, *args, **kwargs)
            if "w" in mode:
                opened.write = self._counted("write", opened.write)
                opened.flush = self._counted("flush", opened.flush)
            return opened

        return call


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, 0])
def test_after_a_failure_at_any_call_of_a_write_there_is_the_old_or_the_new(
    number: int, store: Stored, tmp_path: Path
) -> None:
    error: BaseException = OSError(number, os.strerror(number)) if number else Killed()
    old, before, failed = store.path.read_bytes(), len(list(tmp_path.rglob("*"))), []
    for nth in range(1, 20):
        store.path.write_bytes(old)
        with pytest.MonkeyPatch.context() as patch:
            calls = FailingCalls(patch, nth, error)
            with suppress(OSError, Killed):
                store.write()
        failed += calls.names[1:]
        assert store.is_old() or store.is_new(), calls.names
        # The file of before is kept beside choices.
        assert len(list(tmp_path.rglob("*"))) <= before + 1, calls.names
    assert {"mkstemp", "write", "replace"} <= set(failed)
    store.write()
    assert store.is_new()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_is_killed_at_any_call_leaves_the_old_or_the_new(store: Stored, tmp_path: Path) -> None:
    old = store.path.read_bytes()
    for nth in range(1, 14):
        store.path.write_bytes(old)
        pid = os.fork()
        if pid == 0:
            try:
                with pytest.MonkeyPatch.context() as patch:
                    FailingCalls(patch, nth, Killed())
                    patch.setattr(FailingCalls, "_count", _die_at(nth))
                    store.write()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        assert store.is_old() or store.is_new(), nth
    store.write()
    assert store.is_new()


def _die_at(nth: int) -> Callable[[FailingCalls, str], None]:
    counted = [0]

    def count(_: FailingCalls, name: str) -> None:
        counted[0] += 1
        if counted[0] == nth:
            os.kill(os.getpid(), 9)

    return count


def test_what_a_killed_process_left_is_removed_once_it_is_old(store: Stored) -> None:
    young, old = (store.path.with_name(f"{store.path.name}{name}.tmp") for name in ("young", "old"))
    for path in (young, old):
        path.write_text("{")
    os.utime(old, (time.time() - 7200,) * 2)
    store.write()
    assert (young.exists(), old.exists()) == (True, False)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=64", "none", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("make", STORES, ids=lambda store: store.__name__)
def test_on_a_full_disk_the_old_one_stays_and_afterwards_the_new_one_comes(
    make: Callable[[Path], Stored], small_disk: Path
) -> None:
    store = make(small_disk)
    with open(small_disk / "filling", "wb", buffering=0) as filling:
        for size in (4096, 1):
            with suppress(OSError):
                while True:
                    filling.write(bytes(size))
    before = sorted(small_disk.rglob("*"))
    with suppress(OSError):
        store.write()
    assert store.is_old()
    assert sorted(small_disk.rglob("*")) == before
    (small_disk / "filling").unlink()
    store.write()
    assert store.is_new()


@pytest.mark.parametrize("where", ["file in its place", "nothing may be made"])
def test_where_nothing_can_be_written_reading_finds_nothing(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    if where == "file in its place":
        home.write_text("")
    else:
        # Proc takes no new names, from root neither.
        home = Path("/proc/self/home") if os.path.isdir("/proc/self") else tmp_path / "no" / "\0"
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home))
    (tmp_path / "net.py").write_text(MODEL)
    assert read_index([str(tmp_path)]).files
    assert TrustedFolders().read() == frozenset()
    assert UserChoicesFile("/project").read() == {}
    with pytest.raises(OSError, match="home"):
        TrustedFolders().add(["/project"])
    with pytest.raises(OSError, match="home"):
        UserChoicesFile("/project").write({OLD: ENTRY})


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the folders of Linux")
@pytest.mark.parametrize("variable", ["relative", "~", "~nobody-of-this-name", ".", ""])
def test_a_user_without_a_home_has_nothing_written_into_the_working_folder(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In some containers the user has neither ``HOME`` nor an entry among the users."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, variable)
    assert cache_folder().is_absolute()
    assert state_folder().is_absolute()
    IndexFile("index", "/project").write({"a": 1})
    with pytest.raises(OSError, match="fxlsp"):
        UserChoicesFile("/project").write({OLD: ENTRY})
    assert list(tmp_path.iterdir()) == []


def _write_many(folder: str, number: int) -> None:
    file, trusted = UserChoicesFile("/project", Path(folder)), TrustedFolders(Path(folder))
    for turn in range(20):
        file.write({ChoiceKey("recipes", "net.py", f"Net{number}_{turn}"): ENTRY})
        trusted.add([f"/{number}/{turn}"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_of_several_servers_at_once_none_loses_a_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # So many changes at once on a slow disk take longer than one waits for a server that may be stopped.
    monkeypatch.setattr(folder_lock, "_WAIT_SECONDS", PATIENCE)
    tmp_path.chmod(0o700)
    context = get_context("fork")
    writers = [context.Process(target=_write_many, args=(str(tmp_path), number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(UserChoicesFile("/project", tmp_path).read()) == len(TrustedFolders(tmp_path).read()) == 60


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_a_server_that_was_stopped_while_it_wrote_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_lock, "_WAIT_SECONDS", 0.1)
    file = UserChoicesFile("/project", tmp_path)
    with folder_lock.folder_lock(tmp_path):
        file.write({OLD: ENTRY})
    assert file.read() == {OLD: ENTRY}


def test_an_unfinished_text_is_never_seen_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    program = f"""
        from pathlib import Path
        from fxlsp.engine.storage.user_dirs import write_atomically
        for number in range(300):
            write_atomically(Path({str(path)!r}), str(number % 10) * 200_000)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)]) as writer:
        seen = set()
        while writer.poll() is None:
            if path.exists():
                seen.add((*set(path.read_text()), path.stat().st_size))
    assert all(len(each) == 2 for each in seen)
    assert seen
    write_atomically(path, "end")
    assert path.read_text() == "end"
