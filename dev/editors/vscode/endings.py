"""How VS Code comes to its end. After each of them the server and what it has started are gone, without being asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from dev.editors.vscode.leftovers import Process, all_gone, ours, processes
from dev.editors.vscode.workbench import Workbench

Ending = Callable[[Workbench], Awaitable[None]]

_TRACES_WITHIN = 60.0
"""Seconds after the last test, which may have started the server again."""


async def is_asked_to_quit(bench: Workbench) -> None:
    """As at the end of every run."""
    await _ours(bench)
    bench.ask_to_quit()
    await all_gone(lambda: processes(bench.mark), "VS Code was asked to quit")


async def is_killed(bench: Workbench) -> None:
    """All that is the editor's at once, as when the machine runs out of memory."""
    await _ours(bench)
    for process in processes(bench.mark):
        if not process.is_ours:
            process.kill()
    await all_gone(lambda: processes(bench.mark), "VS Code was killed")


async def loses_its_window(bench: Workbench) -> None:
    """The tab is closed, and VS Code's server stays: it ends the extension host after a while, and we with it."""
    await _ours(bench)
    await bench.tab.call("Page.navigate", url="about:blank")
    await all_gone(lambda: ours(bench.mark), "the window was closed")


async def loses_its_extension_host(bench: Workbench) -> None:
    """It is killed, and VS Code starts another one, with a server of its own."""
    before = await _ours(bench)
    hosts = [process for process in processes(bench.mark) if "--type=extensionHost" in process.command]
    assert hosts, processes(bench.mark)
    for host in hosts:
        host.kill()
    await all_gone(lambda: [each for each in before if each in processes(bench.mark)], "the extension host was killed")


async def _ours(bench: Workbench) -> list[Process]:
    """What has to be gone soon: a server at least, and a process that traces. That one comes with the first trace."""
    deadline = time.monotonic() + _TRACES_WITHIN
    while len(found := ours(bench.mark)) < 2:
        assert time.monotonic() < deadline, f"nothing to be left: {found}"
        await asyncio.sleep(0.1)
    return found
