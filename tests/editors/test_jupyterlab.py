"""JupyterLab in Chromium, configured and started as its page says, with the real server and the real torch."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from dev.editors.chromium import Tab, browser_tab, find_chromium
from dev.editors.jupyterlab import find_jupyter
from dev.environment import PROJECT
from dev.rpc import Json
from tests.editors.models import LIST, SECONDS
from tests.editors.user import code_after, environment_of, install, need, shell_after
from tests.support.fork_server import MARK
from tests.support.leftovers import processes

PAGE = PROJECT / "editors" / "jupyterlab.md"
_POLL = 0.2
"""Seconds. A page that looks by itself, at each frame, would keep the machine busy."""

_UNDERLINED = "[...document.querySelectorAll('.cm-lintRange-warning')].map((each) => each.textContent)"
_TOOLTIP = "document.querySelector('.lsp-hover')?.textContent ?? ''"
_MIDDLE_OF_HEAD = """(() => {
    const line = [...document.querySelectorAll('.cm-line')].find((each) => each.textContent.includes('self.head(x)'));
    const words = line && document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    while (words?.nextNode()) {
        if (!words.currentNode.textContent.includes('head')) continue;
        const range = document.createRange();
        range.selectNodeContents(words.currentNode);
        const box = range.getBoundingClientRect();
        return box.width ? [box.x + box.width / 2, box.y + box.height / 2] : null;
    }
    return null;
})()"""


class Lab:
    """JupyterLab with a folder of the user's in it."""

    def __init__(self, address: str, mark: str) -> None:
        self.address = address
        self._mark = mark

    async def open(self, tab: Tab, name: str) -> None:
        await tab.call("Page.navigate", url=f"{self.address}/lab/tree/{name}?reset")
        await eventually(tab, _UNDERLINED, ["self.layers", "layer(x)"])

    async def end(self, how: signal.Signals) -> None:
        """Ends the program itself, and nothing that it started, and waits until it is gone."""
        told: set[int] = set()
        for _ in range(int(SECONDS / _POLL)):
            left = {pid for pid, command in processes(self._mark).items() if "jupyter-lab" in command}
            for pid in left - told:
                os.kill(pid, how)
            told |= left
            if not left:
                return
            await asyncio.sleep(_POLL)
        pytest.fail("JupyterLab does not end")


@pytest.fixture
async def lab(tmp_path: Path, mark: str) -> AsyncIterator[Lab]:
    jupyter = need(find_jupyter(), "JupyterLab")
    home, project = tmp_path / "home", tmp_path / "project"
    install(home)
    configuration = home / ".jupyter" / "jupyter_server_config.json"
    configuration.parent.mkdir()
    configuration.write_text(code_after(PAGE, "## Set up"), encoding="utf-8")
    project.mkdir()
    (project / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "fx"\n', encoding="utf-8")
    (project / "list.py").write_text(LIST, encoding="utf-8")
    (project / "list.ipynb").write_text(json.dumps(_notebook(LIST)), encoding="utf-8")
    environment = environment_of(home) | {MARK: mark}
    environment["PATH"] = f"{Path(jupyter).parent}{os.pathsep}{environment['PATH']}"
    async with _running(shell_after(PAGE, "## Set up"), project, environment, mark) as lab:
        yield lab


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browser_tab(need(find_chromium(), "Chromium")) as tab:
        yield tab


async def test_problems_and_hovers_are_shown_in_a_file_and_problems_in_each_page_that_is_opened_after_it(
    lab: Lab, tab: Tab
) -> None:
    await lab.open(tab, "list.py")
    await eventually(tab, _MIDDLE_OF_HEAD)
    assert "(2, 4) → (2, 4)" in await hover(tab)
    await lab.open(tab, "list.ipynb")
    await lab.open(tab, "list.py")


async def test_a_jupyterlab_that_is_killed_leaves_nothing_behind(lab: Lab, tab: Tab, mark: str) -> None:
    await lab.open(tab, "list.py")
    assert any("fxlsp serve" in command for command in processes(mark).values())
    await lab.end(signal.SIGKILL)


async def hover(tab: Tab) -> str:
    """What is shown for the middle of ``self.head`` with the key held, once it is."""
    x, y = await eventually(tab, _MIDDLE_OF_HEAD)

    async def shown() -> str:
        move = {"type": "mouseMoved", "y": y, "buttons": 0, "modifiers": 2}
        for beside in (-1, 1):
            await tab.call("Input.dispatchMouseEvent", x=x + beside, **move)
        return str(await tab.evaluate(_TOOLTIP))

    for _ in range(int(SECONDS / _POLL)):
        if words := await shown():
            return words
        await asyncio.sleep(_POLL)
    pytest.fail("no hover was shown")


async def eventually(tab: Tab, expression: str, expected: Json = None) -> Json:
    """The value of an expression of the page once there is one, or the one that is expected."""
    found = None
    for _ in range(int(SECONDS / _POLL)):
        # Of a page that is about to be left there may be nothing to evaluate.
        with suppress(RuntimeError):
            found = await tab.evaluate(expression)
        if found and expected in (None, found):
            return found
        await asyncio.sleep(_POLL)
    pytest.fail(f"{expression} is {found}; the page says {tab.errors}")


@asynccontextmanager
async def _running(command: str, project: Path, environment: dict[str, str], mark: str) -> AsyncIterator[Lab]:
    port = _free_port()
    options = "--no-browser --allow-root --IdentityProvider.token= --ServerApp.ip=127.0.0.1"
    options += f" --ServerApp.port={port} --ServerApp.port_retries=0"
    process = await asyncio.create_subprocess_shell(
        f"{command.strip()} {options}",
        cwd=project,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    lab = Lab(f"http://127.0.0.1:{port}", mark)
    try:
        await _answers(f"{lab.address}/api", process)
        yield lab
    finally:
        await lab.end(signal.SIGTERM)
        await process.wait()


async def _answers(address: str, process: asyncio.subprocess.Process) -> None:
    for _ in range(int(SECONDS / _POLL)):
        assert process.returncode is None, "JupyterLab ended"
        with suppress(OSError):
            await asyncio.to_thread(lambda: urlopen(address, timeout=SECONDS).close())
            return
        await asyncio.sleep(_POLL)
    pytest.fail("JupyterLab does not answer")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _notebook(text: str) -> Json:
    """The module in two cells: the class, and what calls it."""
    definition, _, call = text.partition("\n\n\nNet()")
    cells: Json = [
        {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for name, source in (("class", definition), ("call", f"Net(){call.rstrip()}"))
    ]
    language = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "version": "3.11"}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": language}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
