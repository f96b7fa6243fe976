"""What the operating system refuses to a contained process, with each version of what it may offer."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import resource
import signal
import socket
import stat
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fxlsp.tracing.isolation.sandbox.containment import Containment, working_containment
from fxlsp.tracing.isolation.sandbox.landlock import NO_LANDLOCK, landlock_version, truncation_is_refused
from fxlsp.tracing.isolation.sandbox.seccomp import _ARCHITECTURES, _numbers, has_seccomp
from fxlsp.tracing.isolation.sandbox.system_call import system_call
from fxlsp.tracing.model.diagnosis.failures import message_of

LANDLOCK = pytest.mark.skipif(landlock_version() == NO_LANDLOCK, reason="this system has no Landlock")
SECCOMP = pytest.mark.skipif(not has_seccomp(), reason="this system has no seccomp")
REFUSALS = (f"PermissionError {errno.EACCES}", f"PermissionError {errno.EPERM}", f"OSError {errno.EXDEV}")
"""The last one is what Landlock answers where a file would get into another folder."""
VERSIONS = sorted({1, 2, 3, landlock_version()} & set(range(1, landlock_version() + 1)))


def contained(containment: Containment, scratch: Path, act: Callable[[], object]) -> str:
    """Apply ``containment`` in a forked process; return the error of ``act`` there, "" if it succeeds."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            containment.apply(str(scratch))
            act()
        except OSError as error:
            os.write(writer, f"{type(error).__name__} {error.errno}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return text


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "file").write_text("temporary", encoding="utf-8")
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("content", encoding="utf-8")
    return path


@LANDLOCK
@SECCOMP
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_refuses_every_change(version: int, scratch: Path, file: Path) -> None:
    containment = Containment(os.getpid(), landlock=version)
    for act in (
        lambda: file.write_text("changed", encoding="utf-8"),
        lambda: os.truncate(file, 0),
        lambda: os.open(file, os.O_RDONLY | os.O_TRUNC),
        lambda: os.open(file, os.O_ACCMODE | os.O_TRUNC),
        lambda: os.replace(scratch / "file", file),
        lambda: os.link(scratch / "file", file.with_name("new")),
        lambda: os.link(file, scratch / "new"),
        lambda: os.rename(file, scratch / "new"),
        lambda: os.mkfifo(file.with_name("new")),
        lambda: os.remove(file),
    ):
        assert contained(containment, scratch, act) in REFUSALS, act
    before = file.stat()
    assert contained(containment, scratch, lambda: os.chmod(file, 0o700)) == ""
    assert contained(containment, scratch, lambda: os.utime(file, (1, 1))) == ""
    assert file.stat() == before
    assert file.read_text(encoding="utf-8") == "content"
    assert sorted(path.name for path in file.parent.iterdir()) == ["file", "scratch"]


@LANDLOCK
@SECCOMP
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the files of others")
def test_root_reads_the_files_of_other_users_and_changes_none_even_without_landlock(scratch: Path, file: Path) -> None:
    folder = file.with_name("folder")
    folder.mkdir()
    for path, mode in ((file, 0o600), (folder, 0o700)):
        path.chmod(mode)
        os.chown(path, 54321, 54321)
    containment = Containment(os.getpid(), landlock=NO_LANDLOCK, seccomp=True)
    assert contained(containment, scratch, lambda: file.read_text(encoding="utf-8") and os.listdir(folder)) == ""
    for act in (
        lambda: file.write_text("changed", encoding="utf-8"),
        lambda: os.truncate(file, 0),
        (folder / "new").mkdir,
    ):
        assert contained(containment, scratch, act) in REFUSALS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_no_device_is_made_among_the_temporary_files(scratch: Path) -> None:
    for kind in (stat.S_IFBLK, stat.S_IFCHR):
        make = lambda: os.mknod(scratch / "device", kind | 0o600, os.makedev(1, 5))  # noqa: B023, E731 - called at once
        assert contained(Containment(os.getpid()), scratch, make).startswith("PermissionError")


@LANDLOCK
@pytest.mark.parametrize("version", VERSIONS)
def test_temporary_files_may_be_changed_in_every_way(version: int, scratch: Path) -> None:
    def act() -> None:
        (scratch / "folder").mkdir()
        os.rename(scratch / "file", scratch / "other")
        os.symlink("other", scratch / "link")
        (scratch / "link").write_text("changed", encoding="utf-8")
        # Before version 3, a filter refuses all truncation by path, wherever the file is.
        with open(scratch / "other", "r+b") as file:
            os.truncate(scratch / "other" if truncation_is_refused(version) else file.fileno(), 2)
        os.chmod(scratch / "other", 0o600)
        os.rmdir(scratch / "folder")
        with open(os.devnull, "w", encoding="utf-8") as null:
            null.write("x")

    assert contained(Containment(os.getpid(), landlock=version), scratch, act) == ""
    assert (scratch / "other").read_text(encoding="utf-8") == "ch"


@SECCOMP
@pytest.mark.parametrize("landlock", [NO_LANDLOCK, landlock_version()])
def test_connections_programs_and_signals_are_refused(landlock: int, scratch: Path) -> None:
    containment = Containment(os.getpid(), landlock=landlock)
    parent, group = os.getpid(), os.getpgid(0)

    def connect() -> None:
        with socket.socket() as tcp:
            tcp.connect(("127.0.0.1", 9))

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"x", ("127.0.0.1", 9))

    def send_by_unix_socket() -> None:
        for each in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
            with each:
                each.sendto(b"x", "/nowhere")

    def signal_the_group_of_the_parent() -> None:
        os.setsid()
        os.killpg(group, signal.SIGCONT)

    for act in (
        connect,
        send,
        send_by_unix_socket,
        lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
        lambda: os.setpriority(os.PRIO_USER, 0, 19),
        lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
        lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE, resource.prlimit(parent, resource.RLIMIT_NOFILE)),
        lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        lambda: os.kill(parent, signal.SIGCONT),
        lambda: os.kill(os.getppid(), 0),
        signal_the_group_of_the_parent,
    ):
        assert contained(containment, scratch, act) == "PermissionError 1", act
    for allowed in (
        lambda: os.kill(os.getpid(), 0),
        socket.socketpair,
        socket.socket,
        lambda: os.nice(0),
        lambda: os.isatty(0),
        lambda: resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)),
    ):
        assert contained(containment, scratch, allowed) == ""


@SECCOMP
@pytest.mark.parametrize("landlock", [NO_LANDLOCK, landlock_version()])
def test_locks_of_every_kind_succeed_without_effect(landlock: int, scratch: Path, file: Path) -> None:
    """Also where another program holds one: a trace does not wait for it."""
    with file.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.lockf(held, fcntl.LOCK_EX)

        def lock() -> None:
            with file.open("rb") as readable:
                for operation in (fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_SH | fcntl.LOCK_NB, fcntl.LOCK_UN):
                    fcntl.flock(readable, operation)
                for command in (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38):
                    fcntl.fcntl(readable, command, struct.pack("hhqqixxxx", fcntl.F_RDLCK, 0, 0, 0, 0))
                fcntl.fcntl(readable, fcntl.F_GETFL)
                fcntl.fcntl(readable, fcntl.F_DUPFD_CLOEXEC, 0)

        assert contained(Containment(os.getpid(), landlock=landlock), scratch, lock) == ""


@SECCOMP
@pytest.mark.parametrize(
    "command", [fcntl.F_SETOWN, fcntl.F_SETSIG, fcntl.F_SETLEASE, fcntl.F_NOTIFY, 15, 1031, 1036, 1038, 1040, 99, -1]
)
def test_commands_for_files_that_reach_beyond_the_process_are_refused(command: int, scratch: Path, file: Path) -> None:
    act = lambda: fcntl.fcntl(os.open(file, os.O_RDONLY), command, 0)  # noqa: E731 - called at once
    assert contained(Containment(os.getpid()), scratch, act) == "PermissionError 1"


@SECCOMP
def test_namespaces_watches_and_other_processes_memory_are_refused(scratch: Path) -> None:
    parent = os.getpid()
    for name, arguments, number in (
        *(("clone", (1 << bit | signal.SIGCHLD, 0, 0, 0, 0), errno.EPERM) for bit in (17, *range(25, 31))),
        ("clone3", (0, 0), errno.ENOSYS),
        ("memfd_create", (b"name", 0), errno.ENOSYS),
        ("inotify_init1", (0,), errno.EPERM),
        ("fanotify_init", (0, 0), errno.EPERM),
        ("process_vm_readv", (parent, 0, 0, 0, 0, 0), errno.EPERM),
        ("process_vm_writev", (parent, 0, 0, 0, 0, 0), errno.EPERM),
        ("kcmp", (parent, parent, 0, 0, 0), errno.EPERM),
        ("move_pages", (parent, 0, 0, 0, 0, 0), errno.EPERM),
        ("migrate_pages", (parent, 0, 0, 0), errno.EPERM),
    ):
        (call,) = _numbers([name], _ARCHITECTURES[platform.machine()])
        act = lambda: system_call(call, *arguments)  # noqa: B023, E731 - called at once
        found = contained(Containment(parent), scratch, act)
        assert found.split()[-1:] == [str(number)], name


@SECCOMP
def test_threads_and_processes_of_its_own_can_be_started(scratch: Path) -> None:
    def act() -> None:
        done: list[int] = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        thread.join()
        pid = os.fork()
        if pid == 0:
            os._exit(7)
        if done != [1] or os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7:
            raise OSError(errno.ECHILD, "")

    assert contained(Containment(os.getpid()), scratch, act) == ""


def test_without_anything_on_offer_nothing_is_restricted(scratch: Path, file: Path) -> None:
    containment = Containment(os.getpid(), landlock=NO_LANDLOCK, seccomp=False)
    assert containment.names == ()
    assert contained(containment, scratch, lambda: file.write_text("changed", encoding="utf-8")) == ""
    assert file.read_text(encoding="utf-8") == "changed"


def test_what_the_system_offers_but_refuses_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("refused here")

    monkeypatch.setattr("fxlsp.tracing.isolation.sandbox.containment.allow_changes_only_in", refuse)
    assert not working_containment(os.getpid()).files
    monkeypatch.setattr("fxlsp.tracing.isolation.sandbox.containment.give_up_privileges", refuse)
    assert working_containment(os.getpid()).names == ()


@LANDLOCK
def test_a_refusal_by_the_system_is_named_as_one_of_fxlsp(scratch: Path, file: Path) -> None:
    reader, writer = os.pipe()

    def act() -> None:
        try:
            file.write_text("changed", encoding="utf-8")
        except PermissionError as error:
            os.write(writer, message_of(error).encode())

    contained(Containment(os.getpid()), scratch, act)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert "fxlsp lets a model neither change files" in answer.read()


def test_an_error_of_the_files_own_mode_is_left_as_it_is(file: Path) -> None:
    error = PermissionError(13, "Permission denied", str(file.parent / "absent" / "file"))
    assert "fxlsp" not in message_of(error)


def test_a_long_message_is_shortened_in_the_middle() -> None:
    message = message_of(ValueError("a" * 10_000_000 + "the end"))
    assert len(message) < 5000
    assert "(10,000,007 characters)" in message
    assert message.endswith("the end")
