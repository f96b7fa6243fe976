"""One VS Code in one browser, for one workspace; all its processes end with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dev.editors.chromium import Tab, browser_tab
from dev.editors.vscode.installation import Installation
from dev.editors.vscode.leftovers import all_gone, processes

_LISTENS_WITHIN = 120
_GRACE = 5
"""Seconds after which the extension host of a closed window ends."""


@dataclass
class Workbench:
    """VS Code with a workspace open in it."""

    tab: Tab
    user: Installation
    pid: int
    """Of VS Code's server, whose process group contains all processes of the editor."""

    @property
    def mark(self) -> str:
        return self.user.mark

    def ask_to_quit(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)


@dataclass(frozen=True)
class Development:
    """An extension that is run from its folder, and the module with its tests."""

    extension: Path
    tests: Path


@asynccontextmanager
async def workbench(
    user: Installation,
    workspace: Path,
    *,
    development: Development | None = None,
    environment: Mapping[str, str] = {},  # never changed
    ask_for_trust: bool = False,
    size: tuple[int, int] = (1280, 800),
) -> AsyncIterator[Workbench]:
    """Open a folder, or a ``.code-workspace``.

    Args:
        user: whose settings and extensions are used.
        workspace: what to open.
        development: an extension under test.
        environment: further variables of the editor's processes.
        ask_for_trust: else every workspace is trusted.
        size: of the window, in pixels.

    Raises:
        LeftoverError: processes outlived it by more than some seconds; they are ended all the same.
    """
    port = _free_port()
    options = ["--bind-addr", f"127.0.0.1:{port}", "--reconnection-grace-time", str(_GRACE)]
    process = await asyncio.create_subprocess_exec(
        *(*user.command, *options, *([] if ask_for_trust else ["--disable-workspace-trust"])),
        env={**user.variables, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        await asyncio.wait_for(_until_it_listens(process), _LISTENS_WITHIN)
        async with browser_tab(user.tools.chromium, *size) as tab:
            if development is not None:
                await _allow_tests(tab)
            await tab.call("Page.navigate", url=_address(port, workspace, development))
            yield Workbench(tab, user, process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await process.wait()
        await all_gone(lambda: processes(user.mark), "the run")


async def _until_it_listens(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    output = []
    async for line in process.stdout:
        output.append(line.decode(errors="replace"))
        if "HTTP server listening" in output[-1]:
            # The output must be read on: a full pipe would stop the process.
            asyncio.ensure_future(_drain(process.stdout))  # noqa: RUF006  # it ends with the process
            return
    raise RuntimeError(f"code-server ended: {''.join(output)}")


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass


async def _allow_tests(tab: Tab) -> None:
    """Put the option for tests into the page.

    A built VS Code runs tests only with an option that code-server does not pass on.
    """
    source = """
        const read = Element.prototype.getAttribute;
        Element.prototype.getAttribute = function (name) {
            const value = read.call(this, name);
            if (name !== "data-settings" || this.id !== "vscode-workbench-web-configuration") return value;
            return JSON.stringify({ ...JSON.parse(value), developmentOptions: { enableSmokeTestDriver: true } });
        };
    """
    await tab.call("Page.addScriptToEvaluateOnNewDocument", source=source)


def _address(port: int, workspace: Path, development: Development | None) -> str:
    kind = "workspace" if workspace.is_file() else "folder"
    address = f"http://127.0.0.1:{port}/?{kind}={quote(str(workspace))}"
    if development is None:
        return address
    remote = f"vscode-remote://127.0.0.1:{port}"
    paths = {"extensionDevelopmentPath": development.extension, "extensionTestsPath": development.tests}
    payload = [[name, f"{remote}{path}"] for name, path in paths.items()]
    return f"{address}&payload={quote(json.dumps(payload))}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
