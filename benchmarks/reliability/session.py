"""A server with a healthy model beside hostile ones, and what is left of it on the machine."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dev.editor import Editor, editor
from dev.rpc import Json

MARK = "FXLSP_TEST_RUN"
"""Variable of the environment that all processes of a session have."""
HEALTHY = """\
import torch
from torch import nn


# fxlsp: Healthy()(torch.randn(2, 4))
class Healthy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x):
        return self.fc(x)
"""
ANSWER_SECONDS = 60.0
"""Far above what an answer takes, so that only a lost one fails."""


@dataclass
class Session:
    """A running server, its client, and a healthy model that is open in it."""

    client: Editor
    folder: Path
    mark: str
    healthy: str
    """URI of the healthy model."""
    temporary: Path
    """Folder for temporary files, which the session has for itself."""
    width: int = 8

    async def new_shape(self, seconds: float = ANSWER_SECONDS) -> float:
        """Change the width of the healthy model, and return the seconds until its new shape is shown.

        Raises:
            asyncio.TimeoutError: It is not.
        """
        old, self.width = self.width, self.width + 1 if self.width < 900 else 8
        began = time.monotonic()
        self.client.replace(self.healthy, f"nn.Linear(4, {old})", f"nn.Linear(4, {self.width})")

        async def shown() -> bool | None:
            hints = await self.client.hints(self.healthy)
            return True if any(f"(2, {self.width})" in _label(hint) for hint in hints) else None

        await self.client.until(shown, seconds)
        return time.monotonic() - began

    async def state(self) -> str:
        """Return what the client shows of the healthy model, to find the cause of a fault."""
        titles = [lens["command"]["title"] for lens in await self.client.lenses(self.healthy)]
        problems = [problem["message"] for problem in self.client.buffers[self.healthy].problems]
        return f"{titles}, {problems}, log: {self.client.log[-2:]}"

    def left_files(self) -> set[str]:
        """Return what was added to the workspace's and the temporary folder."""
        added = {path.name for path in self.folder.rglob("*") if path.suffix != ".py"}
        # torch makes a folder for compiled code when it is imported, and leaves it.
        return added | {name for name in os.listdir(self.temporary) if not name.startswith("torchinductor")}


@asynccontextmanager
async def session(workplace: Path) -> AsyncIterator[Session]:
    """Start a server, and show the first shape of the healthy model.

    Args:
        workplace: Empty folder, in which the workspace and its temporary files will lie.
    """
    folder, temporary, mark = workplace / "workspace", workplace / "temporary", uuid.uuid4().hex
    for made in (folder, temporary):
        made.mkdir()
    os.environ.update({MARK: mark, "TMPDIR": str(temporary)})
    (folder / "healthy.py").write_text(HEALTHY, encoding="utf-8")
    async with editor(folder, asyncio.subprocess.DEVNULL) as client:
        running = Session(client, folder, mark, client.open(folder / "healthy.py"), temporary)
        await running.new_shape()
        yield running


def processes(mark: str) -> dict[int, str]:
    """Return the programs of the running processes with a mark in their environment, but for this one."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            try:
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "comm").read_text(encoding="utf-8").strip()
            except OSError:
                continue
    return found


def parent(pid: int) -> int:
    """Return the id of a process's parent; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def none_left(mark: str, seconds: float) -> dict[int, str]:
    """Return the processes that are left ``seconds`` after the end of a session."""
    deadline = time.monotonic() + seconds
    while (left := processes(mark)) and time.monotonic() < deadline:  # noqa: ASYNC110  # no event: it is no child
        await asyncio.sleep(0.05)
    return left


def _label(hint: Json) -> str:
    label = hint["label"]
    return label if isinstance(label, str) else "".join(part["value"] for part in label)
