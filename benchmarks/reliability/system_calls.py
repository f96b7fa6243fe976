"""Random system calls of a contained process: none changes a file of the user, locks one, or touches another process.

A process with the containment of a worker calls the kernel directly, with arguments that name the user's files, their
descriptors, other processes, or are numbers. It stays alive while the parent looks for what has changed.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import os
import platform
import resource
import select
import signal
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.reliability.progress import Outcome, Share
from fxlsp.tracing.isolation.sandbox.containment import Containment
from fxlsp.tracing.isolation.sandbox.landlock import landlock_version, signals_are_refused
from fxlsp.tracing.isolation.sandbox.seccomp import has_seccomp

NUMBERS = range(480)
"""More than there are."""
_LEFT_OUT = {
    # fork, vfork, clone, clone3, exit, exit_group, rt_sigreturn: they take this process out of the experiment. sync,
    # syncfs: they wait for the disk of the whole machine.
    "x86_64": {15, 56, 57, 58, 60, 162, 231, 306, 435},
    "aarch64": {81, 93, 94, 139, 220, 267, 435},
}
_FLOCK, _FCNTL = {"x86_64": (73, 72), "aarch64": (32, 25)}.get(platform.machine(), (0, 0))
_CALL_SECONDS = 0.01
_BATCH_SECONDS = 20.0

Value = int | ctypes.Array[ctypes.c_char]


class Attempt(NamedTuple):
    """One call."""

    number: int
    arguments: tuple[Value, ...]


def can_attack() -> bool:
    """Return whether the system contains a process so far that random calls are safe for the machine."""
    known = platform.machine() in _LEFT_OUT and os.name == "posix"
    return known and has_seccomp() and signals_are_refused(landlock_version())


class Target:
    """Folder of a user, and what else of the user a contained process must not change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "user"
        (self.folder / "inner").mkdir(parents=True)
        self.file, self.scratch = self.folder / "file", folder / "scratch"
        self.file.write_bytes(b"content" * 1000)
        (self.folder / "inner" / "file").write_bytes(b"inner")
        self.scratch.mkdir()

    def state(self) -> dict[str, object]:
        """Return everything that a change would show in."""
        found: dict[str, object] = {}
        for path in (self.folder, *sorted(self.folder.rglob("*"))):
            status = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path)] = (status.st_mode, status.st_uid, status.st_ctime_ns, status.st_nlink, data)
        found["priority"] = os.getpriority(os.PRIO_PROCESS, os.getpid())
        found["processors"] = os.sched_getaffinity(0)
        found["limits"] = [resource.getrlimit(limit) for limit in range(16)]
        found["group"] = os.getpgid(0)
        found["locks"] = [name for name in ("flock", "write lock", "open write lock") if self._is_locked(name)]
        return found

    def _is_locked(self, kind: str) -> bool:
        """Return whether another process can keep the user's programs from locking the file."""
        with self.file.open("r+b") as file:
            try:
                if kind == "flock":
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                else:
                    command = fcntl.F_SETLK if kind == "write lock" else _SET_OPEN_LOCK
                    fcntl.fcntl(file, command, _lock(fcntl.F_WRLCK))
            except (BlockingIOError, PermissionError):
                return True
        return False


_SET_OPEN_LOCK = 37


def _lock(kind: int) -> bytes:
    """Return a ``struct flock`` for a whole file."""
    return struct.pack("hhqqixxxx", kind, os.SEEK_SET, 0, 0, 0)


async def run_calls(share: Share) -> Outcome:
    """Try calls until the share is done or its time is over."""
    if not can_attack():
        print("calls: this system does not contain a process so far that they are safe", flush=True)
        return Outcome(share.left, [])
    deadline, random = time.monotonic() + share.seconds, Random(share.name("calls"))
    wrong: list[str] = []
    count = 0
    while count < share.left and time.monotonic() < deadline and not wrong:
        with tempfile.TemporaryDirectory() as name:
            found, tried = attack(Target(Path(name)), random, 30)
            wrong += found
            count += tried
    print(f"calls: {count} system calls, {len(wrong)} got through", flush=True)
    return Outcome(count, wrong)


def attack(target: Target, random: Random, each: int) -> tuple[list[str], int]:
    """Try calls of every number with ``each`` random lists of arguments; return what got through, and their number."""
    wrong: list[str] = []
    count = 0
    for number in NUMBERS:
        if number in _LEFT_OUT[platform.machine()]:
            continue
        before = target.state()
        count += _contained(target, partial(_try_all, target, number, Random(random.random()), each))
        after = _Seen.state
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        if changed:
            wrong.append(f"call {number} changed {changed}")
    return wrong, count


class _Seen:
    """What the target was like while the contained process was still alive."""

    state: dict[str, object] = {}  # noqa: RUF012  # replaced as a whole


def _contained(target: Target, act: Callable[[], int]) -> int:
    """Run ``act`` in a contained process, look at the target while that waits, and return the number of calls."""
    (from_child, to_parent), (from_parent, to_child) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        count = 0
        try:
            os.close(to_child)
            faulthandler.disable()
            # Own copies, out of the reach of calls that close descriptors.
            waiting, telling = fcntl.fcntl(from_parent, fcntl.F_DUPFD, 900), fcntl.fcntl(to_parent, fcntl.F_DUPFD, 901)
            null = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(null, standard)
            os.chdir(target.scratch)
            os.setsid()
            Containment(os.getppid()).apply(str(target.scratch))
            count = act()
            os.write(telling, struct.pack("q", count))
            os.read(waiting, 1)
        finally:
            os._exit(0)
    for descriptor in (to_parent, from_parent):
        os.close(descriptor)
    try:
        told = _read(from_child, _BATCH_SECONDS)
        _Seen.state = target.state()
    finally:
        for descriptor in (to_child, from_child):
            os.close(descriptor)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    # Also what its children did.
    after = target.state()
    _Seen.state |= {name: value for name, value in after.items() if name != "locks"}
    return struct.unpack("q", told)[0] if len(told) == 8 else 0


def _read(descriptor: int, seconds: float) -> bytes:
    ready, _, _ = select.select([descriptor], [], [], seconds)
    return os.read(descriptor, 8) if ready else b""


def _try_all(target: Target, number: int, random: Random, each: int) -> int:
    """Try the calls of one number; return how many returned."""
    library = ctypes.CDLL(None, use_errno=True)
    signal.signal(signal.SIGALRM, lambda *_: None)
    count = 0
    for attempt in _attempts(target, number, random, each):
        signal.setitimer(signal.ITIMER_REAL, _CALL_SECONDS)
        library.syscall(ctypes.c_long(number), *map(_converted, attempt.arguments))
        signal.setitimer(signal.ITIMER_REAL, 0)
        count += 1
    return count


def _converted(value: Value) -> Any:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _attempts(target: Target, number: int, random: Random, each: int) -> Iterator[Attempt]:
    pool = _Pool(target, random)
    if number == _FLOCK:
        yield from (Attempt(number, (pool.file, operation)) for operation in (5, 6, 1, 2))
    if number == _FCNTL:
        for command in (*range(48), *range(1024, 1048)):
            for argument in (
                ctypes.create_string_buffer(_lock(fcntl.F_RDLCK)),
                1,
                ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0"),
            ):
                yield Attempt(number, (pool.file, command, argument))
    for _ in range(each):
        yield Attempt(number, tuple(pool.argument(position) for position in range(6)))


class _Pool:
    """Values for arguments of a contained process."""

    def __init__(self, target: Target, random: Random) -> None:
        self._random = random
        self.file = os.open(target.file, os.O_RDONLY)
        folder = os.open(target.folder, os.O_RDONLY)
        path = os.open(target.file, os.O_PATH)
        made = os.open(target.scratch / "made", os.O_RDWR | os.O_CREAT, 0o600)
        os.write(made, b"temporary")
        self._descriptors = (self.file, self.file, folder, path, made, *os.pipe())
        names = (target.file, target.folder, target.folder / "inner", target.folder / "new", target.scratch / "made")
        relative = (b"file", b"inner", b"new", b"../user/file", b"user.note", b"")
        self._texts = [ctypes.create_string_buffer(os.fsencode(name)) for name in (*names, *names, *relative)]
        self._processes = (os.getppid(), -os.getppid(), 1, -1, 0)

    def argument(self, position: int) -> Value:
        kinds: Sequence[Callable[[], Value]] = (
            lambda: self._random.choice(self._descriptors),
            lambda: self._random.choice(self._texts),
            lambda: self._random.choice(self._processes),
            lambda: self._random.choice((0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0o777, 4096, -100, 0x1000, 0x100)),
            lambda: self._random.choice((1 << self._random.randrange(32), self._random.randrange(2**31))),
            lambda: ctypes.create_string_buffer(_lock(self._random.choice((0, 1, 2))), 64),
            lambda: ctypes.create_string_buffer(bytes(self._random.choice((0, 1)) for _ in range(256))),
        )
        weights = (5, 5, 2, 3, 1, 1, 1) if position < 3 else (2, 2, 1, 6, 2, 1, 1)
        return self._random.choices(kinds, weights)[0]()
