"""One VS Code in one browser, for one folder; nothing of it is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dev.chromium import Tab, browser_tab
from dev.vscode.tools import Tools

MARK = "FXLSP_EDITOR_RUN"
"""Stands in the environment of every process of a run."""
_LISTENS_WITHIN = 60
_GONE_WITHIN = 10.0
_SETTINGS: Mapping[str, Any] = {
    "editor.minimap.enabled": False,
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "always",
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "chat.disableAIFeatures": True,
}
"""What would move or ask while a test looks."""


class LeftoverError(Exception):
    """Processes of a run outlived it."""


@dataclass
class Workbench:
    """VS Code with a folder open in it."""

    tab: Tab
    folder: Path
    mark: str
    home: Path

    def log(self) -> str:
        """What the extension has logged so far."""
        logs = (self.home / "data" / "logs").glob("*/exthost*/fxlsp.fxlsp/*.log")
        return "".join(path.read_text(encoding="utf-8") for path in logs)


@asynccontextmanager
async def workbench(
    tools: Tools,
    folder: Path,
    *,
    settings: Mapping[str, Any] = {},  # never changed
    extension: Path | None = None,
    tests: Path | None = None,
    environment: Mapping[str, str] = {},
    ask_for_trust: bool = False,
    size: tuple[int, int] = (1280, 800),
) -> AsyncIterator[Workbench]:
    """Opens ``folder``.

    Args:
        extension: a ``.vsix`` to install, or the folder of an extension under development if there are ``tests``.
        tests: the module that runs its tests in the extension host.
        ask_for_trust: else every workspace is trusted.

    Raises:
        LeftoverError: processes outlived it by more than some seconds; they are ended all the same.
    """
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="fxlsp-vscode-", ignore_cleanup_errors=True) as temporary:
        home = Path(temporary)
        command = _command(tools, home, trusts=not ask_for_trust)
        _write_settings(home, {**_SETTINGS, **settings})
        variables = {**os.environ, **environment, MARK: mark, "HOME": str(home)}
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            variables[name] = str(home / name.lower())
        variables.pop("PYTHONPATH", None)
        if extension is not None and tests is None:
            await _install(command, extension, variables)
        try:
            port = _free_port()
            process = await asyncio.create_subprocess_exec(
                *(*command, "--bind-addr", f"127.0.0.1:{port}"),
                env=variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                await asyncio.wait_for(_until_it_listens(process), _LISTENS_WITHIN)
                async with browser_tab(tools.chromium, *size) as tab:
                    if tests is not None and extension is not None:
                        await _allow_tests(tab)
                    await tab.call("Page.navigate", url=_address(port, folder, extension, tests))
                    yield Workbench(tab, folder, mark, home)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                await process.wait()
        finally:
            _end_the_rest(mark)


def processes(mark: str) -> dict[int, str]:
    """The processes of a run, by their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return {pid: command for pid, command in found.items() if command}


def _end_the_rest(mark: str) -> None:
    deadline = time.monotonic() + _GONE_WITHIN
    while left := processes(mark):
        if time.monotonic() > deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise LeftoverError(f"left after {_GONE_WITHIN:.0f} s: {left}")
        time.sleep(0.1)


def _command(tools: Tools, home: Path, *, trusts: bool) -> list[str]:
    options = {
        "config": home / "config.yaml",
        "auth": "none",
        "user-data-dir": home / "data",
        "extensions-dir": home / "extensions",
        "reconnection-grace-time": 5,
    }
    switches = ["disable-telemetry", "disable-update-check", "disable-getting-started-override", "ignore-last-opened"]
    if trusts:
        switches.append("disable-workspace-trust")
    (home / "config.yaml").write_text("cert: false\n")
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [str(tools.node), str(tools.code_server), *words, *(f"--{name}" for name in switches)]


def _write_settings(home: Path, settings: Mapping[str, Any]) -> None:
    # Settings that name programs of a machine are read from the second alone.
    for kind in ("User", "Machine"):
        path = home / "data" / kind / "settings.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(settings), encoding="utf-8")


async def _install(command: list[str], extension: Path, environment: Mapping[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *(*command, "--install-extension", str(extension)), env=environment, stdout=sys.stderr
    )
    if await process.wait() != 0:
        raise RuntimeError(f"{extension} cannot be installed")


async def _until_it_listens(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    said = []
    async for line in process.stdout:
        said.append(line.decode(errors="replace"))
        if "HTTP server listening" in said[-1]:
            # Nobody reads on; a full pipe would stop it.
            asyncio.ensure_future(_drain(process.stdout))  # noqa: RUF006  # it ends with the process
            return
    raise RuntimeError(f"code-server ended: {''.join(said)}")


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass


async def _allow_tests(tab: Tab) -> None:
    """A built VS Code takes tests only with an option that code-server does not pass on: it is put into the page."""
    source = """
        const read = Element.prototype.getAttribute;
        Element.prototype.getAttribute = function (name) {
            const value = read.call(this, name);
            if (name !== "data-settings" || this.id !== "vscode-workbench-web-configuration") return value;
            return JSON.stringify({ ...JSON.parse(value), developmentOptions: { enableSmokeTestDriver: true } });
        };
    """
    await tab.call("Page.addScriptToEvaluateOnNewDocument", source=source)


def _address(port: int, folder: Path, extension: Path | None, tests: Path | None) -> str:
    address = f"http://127.0.0.1:{port}/?folder={quote(str(folder))}"
    if extension is None or tests is None:
        return address
    remote = f"vscode-remote://127.0.0.1:{port}"
    payload = [["extensionDevelopmentPath", f"{remote}{extension}"], ["extensionTestsPath", f"{remote}{tests}"]]
    return f"{address}&payload={quote(json.dumps(payload))}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def copied(source: Path, target: Path) -> Path:
    """A copy of the fixtures, which a run may change."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target
