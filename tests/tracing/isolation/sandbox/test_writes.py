"""No way to change a file below the workspace works in a trace, in whatever language it is written.

Each way is taken by plain Python first, and has to change its folder: otherwise the test would prove nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.worker import Worker

WAYS = {
    "open": "open(W + '/new', 'w').write('x')",
    "append": "open(W + '/file', 'a').write('x')",
    "descriptor": "os.write(os.open(W + '/file', os.O_WRONLY), b'x')",
    "read_and_truncate": "os.open(W + '/file', os.O_RDONLY | os.O_TRUNC)",
    "truncate": "os.truncate(W + '/file', 1)",
    "mkdir": "os.mkdir(W + '/new')",
    "remove": "os.remove(W + '/file')",
    "rmtree": "shutil.rmtree(W)",
    "rename_in": "os.rename(made(), W + '/new')",
    "replace_in": "os.replace(made(), W + '/file')",
    "move_in": "shutil.move(made(), W + '/file')",
    "move_out": "shutil.move(W + '/file', S + '/taken')",
    "move_folder_out": "os.rename(W + '/folder', S + '/folder')",
    "rename_inside": "os.rename(W + '/file', W + '/renamed')",
    "link_in": "os.link(made(), W + '/new')",
    "link_out": "os.link(W + '/file', S + '/link'); open(S + '/link', 'w').write('x')",
    "symlink_in": "os.symlink('/', W + '/new')",
    "through_symlink": "os.symlink(W, S + '/way'); open(S + '/way/file', 'w').write('x')",
    "working_folder": "os.chdir(W); open('new', 'w').write('x')",
    "remove_in_working_folder": "os.chdir(W); shutil.rmtree('folder')",
    "open_by_folder_descriptor": "os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=os.open(W, os.O_RDONLY))",
    "remove_by_folder_descriptor": "os.unlink('file', dir_fd=os.open(W, os.O_RDONLY))",
    "rename_by_folder_descriptor": "os.rename(made(), 'file', dst_dir_fd=os.open(W, os.O_RDONLY))",
    "process_folder": "os.chdir(W); open('/proc/self/cwd/file', 'w').write('x')",
    "fifo": "os.mkfifo(W + '/new')",
    "node": "os.mknod(W + '/new')",
    "mode": "os.chmod(W + '/file', 0o600)",
    "mode_by_descriptor": "os.fchmod(os.open(W + '/file', os.O_RDONLY), 0o600)",
    "times": "os.utime(W + '/file', (1, 1))",
    "times_by_descriptor": "os.utime(os.open(W + '/file', os.O_RDONLY), (1, 1))",
    "attribute": "os.setxattr(W + '/file', 'user.note', b'x')",
    "memory_map": "f = open(W + '/file', 'r+b'); mmap.mmap(f.fileno(), 0)[:1] = b'x'",
    "numpy": "np.ones(3).tofile(W + '/file')",
    "numpy_map": "np.memmap(W + '/file', np.uint8, 'r+')[0] = 1",
    "database": "sqlite3.connect(W + '/new').execute('create table t (c)')",
    "shelf": "dbm.dumb.open(W + '/new', 'c')['a'] = 'x'",
    "torch_save": "torch.save(torch.ones(2), W + '/new')",
    "storage": "torch.UntypedStorage.from_file(W + '/file', True, 4)[0] = 1",
    "tensor": "torch.from_file(W + '/file', shared=True, size=4, dtype=torch.uint8)[0] = 1",
    "script": "torch.jit.save(torch.jit.script(nn.ReLU()), W + '/new')",
    "script_by_name": "torch.jit.save(m=torch.jit.script(nn.ReLU()), f=W + '/new')",
    "script_below": "torch.jit.script(nn.ReLU())._c.save(W + '/new')",
    "package": "torch.package.PackageExporter(W + '/new').close()",
    "profile": "profiled().export_chrome_trace(W + '/new')",
    "c_open": "libc.open(os.fsencode(W + '/new'), os.O_CREAT | os.O_WRONLY, 0o600)",
    "c_fopen": "libc.fopen(os.fsencode(W + '/new'), b'w')",
    "c_remove": "libc.unlink(os.fsencode(W + '/file'))",
    "c_rename": "libc.rename(os.fsencode(made()), os.fsencode(W + '/file'))",
    "c_link": "libc.link(os.fsencode(W + '/file'), os.fsencode(S + '/l')); libc.truncate(os.fsencode(S + '/l'), 0)",
    "c_mode": "libc.chmod(os.fsencode(W + '/file'), 0o600)",
    "c_program": "run(lambda: libc.execl(b'/bin/rm', b'rm', os.fsencode(W + '/file'), None))",
    "c_shell": "libc.system(os.fsencode('echo > ' + W + '/new'))",
    "c_process": "run(lambda: open(W + '/new', 'w').write('x'))",
    "thread": "t = threading.Thread(target=lambda: os.mknod(W + '/new')); t.start(); t.join()",
    "c_mkdir": "libc.mkdir(os.fsencode(W + '/new'), 0o700)",
    "namespace": "run(lambda: (libc.unshare(0x10020000), libc.mkdir(os.fsencode(W + '/new'), 0o700)))",
}
"""Statements that change the folder W; S is a folder for temporary files."""

TEXT = """
import ctypes, dbm.dumb, mmap, os, shutil, sqlite3, sys, tempfile, threading
import numpy as np
import torch, torch.package
from torch import nn

libc = ctypes.CDLL(None)
S = tempfile.mkdtemp()
HERE = os.path.dirname(os.path.abspath(__file__))

def made():
    descriptor, path = tempfile.mkstemp(dir=S)
    os.write(descriptor, b"temporary")
    os.close(descriptor)
    return path

def profiled():
    with torch.autograd.profiler.profile() as profile:
        torch.ones(2) + 1
    return profile

def run(act):
    pid = libc.fork()
    if pid == 0:
        try:
            act()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

def take(way, folder):
    global S
    S = tempfile.mkdtemp()
    os.chdir(S)
    scope = dict(globals(), W=os.path.join(HERE, folder, way))
    try:
        exec(WAYS[way], scope)
    except Exception as error:
        print(way, type(error).__name__, error, flush=True)
    os.chdir(HERE)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for way in WAYS:
            take(way, "traced")
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        return self.lin(x)

if __name__ == "__main__":
    for way in WAYS:
        # Each in a process of its own: some change the process, or end it.
        run(lambda: take(way, "plain"))
"""

Content = dict[str, tuple[object, ...]]


def populate(folder: Path) -> None:
    for way in WAYS:
        (folder / way / "folder").mkdir(parents=True)
        (folder / way / "folder" / "inner").write_text("inner", encoding="utf-8")
        (folder / way / "file").write_text("content", encoding="utf-8")


def content(folder: Path) -> Content:
    """Return everything about the files below a folder that a change would show in."""
    if not folder.exists():
        return {}
    return {str(path.relative_to(folder)): state(path) for path in (folder, *sorted(folder.rglob("*")))}


def state(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    attributes = os.listxattr(path, follow_symlinks=False) if hasattr(os, "listxattr") else []
    data = path.read_bytes() if path.is_file() else b""
    return (status.st_mode, status.st_mtime_ns, status.st_nlink, attributes, data)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(f"WAYS = {WAYS!r}\n{TEXT}", encoding="utf-8")
    return path


def changed_by_plain_python(script: Path) -> set[str]:
    folder = script.parent / "plain"
    populate(folder)
    before = {way: content(folder / way) for way in WAYS}
    subprocess.run([sys.executable, script], check=True, timeout=120)
    return {way for way in WAYS if content(folder / way) != before[way]}


def assert_that_a_trace_changes_nothing(worker: Worker, script: Path) -> None:
    folder = script.parent / "traced"
    populate(folder)
    before = content(script.parent)
    report = worker.report(f"{script}:Net", "Net()", "torch.randn(2, 4)", roots=(str(script.parent),))
    assert report.complete, report.problems
    after = content(script.parent)
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == set()


def test_no_way_to_change_a_file_works_in_a_trace(any_worker: Worker, script: Path) -> None:
    assert_that_a_trace_changes_nothing(any_worker, script)


def test_every_way_changes_a_file_without_fxlsp(script: Path) -> None:
    assert changed_by_plain_python(script) == set(WAYS)
