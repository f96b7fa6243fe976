"""Ways in which VS Code ends.

After each of them the server and all its processes must end, without a request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from dev.editors.vscode.leftovers import Process, all_gone, ours, processes
from dev.editors.vscode.workbench import Workbench

Ending = Callable[[Workbench], Awaitable[None]]

_TRACES_WITHIN = 60.0
"""Seconds after the last test, which may have restarted the server."""


async def is_asked_to_quit(bench: Workbench) -> None:
    """End VS Code as at the end of every run."""
    await _ours(bench)
    bench.ask_to_quit()
    await all_gone(lambda: processes(bench.mark), "VS Code was asked to quit")


async def is_killed(bench: Workbench) -> None:
    """Kill all processes of the editor at once, as if memory had run out."""
    await _ours(bench)
    for process in processes(bench.mark):
        if not process.is_ours:
            process.kill()
    await all_gone(lambda: processes(bench.mark), "VS Code was killed")


async def loses_its_window(bench: Workbench) -> None:
    """Close the tab, while VS Code's server runs on.

    That server ends the extension host after a while, and with it the language server.
    """
    await _ours(bench)
    await bench.tab.call("Page.navigate", url="about:blank")
    await all_gone(lambda: ours(bench.mark), "the window was closed")


async def loses_its_extension_host(bench: Workbench) -> None:
    """Kill the extension host.

    VS Code starts another one, with a server of its own.
    """
    before = await _ours(bench)
    hosts = [process for process in processes(bench.mark) if "--type=extensionHost" in process.command]
    assert hosts, processes(bench.mark)
    for host in hosts:
        host.kill()
    await all_gone(lambda: [each for each in before if each in processes(bench.mark)], "the extension host was killed")


async def _ours(bench: Workbench) -> list[Process]:
    """Return the processes that must end soon.

    At least a server and a process that traces, which is started with the first trace.
    """
    deadline = time.monotonic() + _TRACES_WITHIN
    while len(found := ours(bench.mark)) < 2:
        assert time.monotonic() < deadline, f"nothing to be left: {found}"
        await asyncio.sleep(0.1)
    return found
