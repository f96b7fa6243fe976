"""The parts that differ on Windows and macOS, each run on Linux with what it finds there in its place.

docs/platforms.md lists them; that each of them has a test is checked here too.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import importlib.util
import io
import os
import re
import socket
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fxlsp.cli.doctor.environment import untried_system

PROJECT = Path(__file__).parents[1]


class Emulated:
    """Modules as they are on another system."""

    def __init__(self, patch: pytest.MonkeyPatch, platform: str) -> None:
        self._patch = patch
        # Cached for the whole process, so not from an emulated system.
        sysconfig.get_config_vars()
        patch.setattr(sys, "platform", platform)

    def load(self, name: str, system: str = os.name) -> Any:
        """Return a second copy of a module, whose statements run on the emulated system.

        Args:
            system: ``os.name`` meanwhile.
        """
        with pytest.MonkeyPatch.context() as real:
            real.setattr(sys, "platform", "linux")
            path = importlib.import_module(name).__file__
        assert path is not None
        # Not by pytest's loader, which rewrites the modules of packages that have a plugin, and needs the real system.
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "name", system)
            spec.loader.exec_module(module)
        return module

    def give(self, owner: Any, **values: Any) -> None:
        for name, value in values.items():
            self._patch.setattr(owner, name, value, raising=False)

    def module(self, name: str, **values: Any) -> None:
        made = ModuleType(name)
        vars(made).update(values)
        self._patch.setitem(sys.modules, name, made)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Emulated:
    return Emulated(monkeypatch, "win32")


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch) -> Emulated:
    return Emulated(monkeypatch, "darwin")


class Kernel:
    """``kernel32``: one process, 7, that has ended or not."""

    def __init__(self, waited: int = 0x102) -> None:
        self.closed: list[object] = []
        self.classes: list[int] = []
        self.OpenProcess = _Function(lambda _access, _inherit, pid: 70 if pid == 7 else 0)
        self.WaitForSingleObject = lambda _handle, _milliseconds: waited
        self.CloseHandle = self.closed.append
        self.GetCurrentProcess = lambda: 70
        self.SetPriorityClass = lambda _handle, value: self.classes.append(value)
        self.K32GetProcessMemoryInfo = _Function(self._memory)

    def _memory(self, _handle: object, counters: Any, _size: int) -> int:
        counters._obj.working_set = 5 * 2**20
        return 1


class _Function:
    """Function of a C library, on which the type of the result can be set."""

    restype: object = None

    def __init__(self, act: Any) -> None:
        self._act = act

    def __call__(self, *args: Any) -> Any:
        return self._act(*args)


# Windows


@pytest.mark.parametrize(("pid", "waited", "alive"), [(7, 0x102, True), (7, 0, False), (8, 0x102, False)])
def test_windows_notices_the_end_of_the_editor(pid: int, waited: int, alive: bool, windows: Emulated) -> None:
    kernel = Kernel(waited)
    windows.give(ctypes, windll=SimpleNamespace(kernel32=kernel))
    assert windows.load("fxlsp.server.editor_watch")._is_alive(pid) is alive
    assert len(kernel.closed) == (pid == 7)


def test_windows_measures_memory_and_lowers_priorities(windows: Emulated) -> None:
    kernel = Kernel()
    windows.give(ctypes, windll=SimpleNamespace(kernel32=kernel))
    system = windows.load("fxlsp.tracing.isolation.child_processes.system")
    assert system.resident_megabytes(7) == 5
    assert system.resident_megabytes(8) == 0
    system.lower_priority(7)
    system.lower_priority(8)
    windows.load("fxlsp.engine.index_reader.reader_protocol")._lower_priority()
    assert kernel.classes == [0x4000, 0x4000]


async def test_windows_hands_a_socket_to_a_process_through_its_input(windows: Emulated, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    text = "import os, sys; print(os.getpid(), flush=True); data = sys.stdin.buffer.read(); print(data.decode())"
    program.write_text(text, encoding="utf-8")
    windows.give(subprocess, CREATE_NO_WINDOW=0)
    start = windows.load("fxlsp.engine.connection.process_start")
    shared: list[int] = []

    def share(pid: int) -> bytes:
        shared.append(pid)
        return b"the socket"

    process = await start.start_process(sys.executable, program, SimpleNamespace(share=share))
    assert (await process.stdout.read()).split() == [b"the", b"socket"]
    assert await process.wait() == 0
    assert shared == [process.pid]
    start.kill_process(process)


async def test_windows_reports_an_interpreter_that_starts_nothing(windows: Emulated, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit('no Python here')", encoding="utf-8")
    windows.give(subprocess, CREATE_NO_WINDOW=0)
    start = windows.load("fxlsp.engine.connection.process_start")
    with pytest.raises(OSError, match="no Python here"):
        await start.start_process(sys.executable, program, SimpleNamespace(share=lambda _: b""))
    await asyncio.sleep(0)


def test_windows_receives_the_socket(
    windows: Emulated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    windows.give(socket, fromshare=lambda data: f"socket of {data!r}")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"data")))
    assert windows.load("fxlsp.wire.handed_socket").handed_socket("-") == "socket of b'data'"
    assert capsys.readouterr().out == f"{os.getpid()}\n"


def test_windows_keeps_the_folders_of_running_supervisors(windows: Emulated, tmp_path: Path) -> None:
    folders = windows.load("fxlsp.tracing.processes.supervisor.scratch_folder")
    (tmp_path / "in-use").write_bytes(b"locked")
    assert not folders._is_locked(str(tmp_path / "in-use"))

    def refuse(_: str) -> None:
        raise PermissionError(13, "another process uses it")

    windows.give(os, unlink=refuse)
    assert folders._is_locked(str(tmp_path / "in-use"))


def test_windows_locks_a_file_in_the_folder(windows: Emulated, tmp_path: Path) -> None:
    taken: list[int] = []

    def locking(_descriptor: int, _mode: int, count: int) -> None:
        if len(taken) < 2:
            taken.append(count)
            raise PermissionError(13, "locked")

    windows.module("msvcrt", locking=locking, LK_NBLCK=2)
    with windows.load("fxlsp.engine.storage.folder_lock").folder_lock(tmp_path):
        assert taken == [1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_windows_limits_nothing_by_the_system(windows: Emulated) -> None:
    assert "resource" not in vars(windows.load("fxlsp.tracing.isolation.sandbox.resource_limits"))


def test_windows_has_neither_system_calls_nor_semaphores_of_the_system(windows: Emulated) -> None:
    calls = windows.load("fxlsp.tracing.isolation.sandbox.system_call", "nt")
    semaphores = windows.load("fxlsp.tracing.isolation.sandbox.semaphores", "nt")
    assert calls._libc is None
    windows.module("_multiprocessing")
    semaphores.keep_semaphores_local()
    assert not hasattr(sys.modules["_multiprocessing"], "SemLock")


def test_windows_finds_the_interpreter_of_an_environment(windows: Emulated, tmp_path: Path) -> None:
    interpreters = windows.load("fxlsp.engine.settings.interpreters", "nt")
    for name in ("bin/python", "Scripts/python.exe"):
        path = tmp_path / ".venv" / name
        path.parent.mkdir(parents=True)
        path.write_text("", encoding="utf-8")
        path.chmod(0o755)
    assert interpreters.choose_interpreter(str(tmp_path)).path == str(tmp_path / ".venv/Scripts/python.exe")


# macOS


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux_the_system_contains_nothing(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    emulated = Emulated(monkeypatch, platform)
    assert emulated.load("fxlsp.tracing.isolation.sandbox.landlock").landlock_version() == 0
    assert not emulated.load("fxlsp.tracing.isolation.sandbox.seccomp").has_seccomp()


@pytest.mark.parametrize(("platform", "limit"), [("linux", 1), ("darwin", 7), ("win32", 7)])
def test_as_many_traces_run_at_once_as_the_system_says_that_there_are_cores(
    platform: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulated = Emulated(monkeypatch, platform)
    emulated.give(os, cpu_count=lambda: 8, sched_getaffinity=lambda pid: {2, 5})
    assert emulated.load("fxlsp.engine.running.schedule").default_limit() == limit


def test_macos_names_the_file_of_a_descriptor(mac: Emulated, tmp_path: Path) -> None:
    import fcntl

    def no_link(_: str) -> str:
        raise FileNotFoundError

    mac.give(os, readlink=no_link)
    mac.give(fcntl, F_GETPATH=50, fcntl=lambda _descriptor, _command, _buffer: os.fsencode(tmp_path) + bytes(100))
    assert mac.load("fxlsp.tracing.isolation.sandbox.audit")._path_of(3) == str(tmp_path)


def test_macos_measures_memory(mac: Emulated) -> None:
    def info(_pid: int, _flavour: int, _argument: object, given: Any, size: int) -> int:
        given._obj[1] = 3 * 2**20
        return size

    mac.give(ctypes, CDLL=lambda *_, **__: SimpleNamespace(proc_pidinfo=info))
    assert mac.load("fxlsp.tracing.isolation.child_processes.system").resident_megabytes(1) == 3


def test_macos_notices_the_end_of_the_editor(mac: Emulated) -> None:
    watch = mac.load("fxlsp.server.editor_watch")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert watch._is_alive(process.pid)
    process.communicate()
    assert not watch._is_alive(process.pid)


def test_a_process_of_macos_ends_with_its_parent(tmp_path: Path) -> None:
    """Where no signal announces the parent's death, a thread looks."""
    ended = tmp_path / "ended"
    child = f"""
        import os, sys, time
        sys.platform = "darwin"
        from fxlsp.tracing.isolation.child_processes import lifetime
        lifetime._WATCH_SECONDS = 0.01
        end = os._exit
        os._exit = lambda code: (open({str(ended)!r}, "w").close(), end(code))
        lifetime.die_with_parent(os.getppid())
        print("ready", flush=True)
        time.sleep(60)
    """
    parent = f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", {textwrap.dedent(child)!r}], stdout=subprocess.PIPE)
        child.stdout.readline()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(parent)], check=True, timeout=60)
    for _ in range(1000):
        if ended.exists():
            break
        subprocess.run(["sleep", "0.01"], check=True)
    assert ended.exists()


# Both


@pytest.mark.parametrize(("platform", "name"), [("darwin", "macOS"), ("win32", "Windows"), ("sunos5", "sunos5")])
def test_doctor_says_what_was_never_run(platform: str, name: str) -> None:
    (finding,) = untried_system(platform)
    assert (finding.topic, finding.mark) == ("system", "warning")
    assert f"fxlsp has never been run on {name}" in finding.message
    assert list(untried_system("linux")) == []


def conditional_modules() -> Iterator[str]:
    """Yield the modules in which something depends on the system."""
    for path in sorted((PROJECT / "fxlsp").rglob("*.py")):
        if re.search(r"sys\.platform|os\.name\b", path.read_text(encoding="utf-8")):
            yield path.relative_to(PROJECT / "fxlsp").as_posix()


def test_the_page_on_platforms_lists_every_module_that_differs_and_a_test_of_each() -> None:
    page = (PROJECT / "docs" / "platforms.md").read_text(encoding="utf-8")
    rows = {
        row[0]: row[-1] for row in re.findall(r"^\| `([\w/]+\.py)` \|(?:.*)\| `([\w/]+\.py)` \|$", page, re.MULTILINE)
    }
    assert set(rows) == set(conditional_modules())
    for name, test in rows.items():
        assert (PROJECT / test).exists(), (name, test)
