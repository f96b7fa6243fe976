"""Headless Chromium, controlled by its DevTools protocol.

It supports what tests, benchmarks and pictures of a page need. It is Debian's ``chromium``, or what
``FXLSP_CHROMIUM`` names. ``python -m dev.editors.chromium`` installs the former where none is found and installing
is permitted.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dev.debian import install

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-port=0"),
)
_START_SECONDS = 60
_KEY_CODES = {"F1": 112, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowDown": 40, ".": 190}
_MODIFIERS = {"Alt": 1, "Control": 2, "Shift": 8}


def find_chromium() -> str | None:
    """Return the path of the browser; None where there is none."""
    named = os.environ.get("FXLSP_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


class Tab:
    """A page in the browser."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._news = asyncio.Event()
        self.requested: list[str] = []
        """The address of everything that the page requested."""
        self.errors: list[str] = []
        """Exceptions of its scripts, and what it wrote to the console as an error."""
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for text in self._connection:
            message = json.loads(text)
            if "id" in message:
                answer = self._answers.pop(message["id"])
                # The caller may have been cancelled.
                if not answer.done():
                    answer.set_result(message)
            else:
                self._on_event(message["method"], message["params"])

    def _on_event(self, method: str, params: Any) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str([each.get("value", each.get("description")) for each in params["args"]]))

    async def call(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol; return the browser's result.

        Raises:
            RuntimeError: the browser answers with an error.
        """
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        message = await answer
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    async def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page, promises awaited.

        Raises:
            RuntimeError: it throws.
        """
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true in the page; return its value.

        Raises:
            TimeoutError: it does not become true in ``seconds``.
        """
        watch = f"""new Promise((resolve) => {{
            const look = () => {{ const found = {expression}; found ? resolve(found) : requestAnimationFrame(look); }};
            look();
        }})"""
        try:
            return await asyncio.wait_for(self.evaluate(watch), seconds)
        except asyncio.TimeoutError as error:
            raise TimeoutError(f"never true: {expression}; the page says {self.errors}") from error

    async def go(self, address: str) -> None:
        """Open an address and wait for its document.

        Effects of its scripts may come later.
        """
        await self.call("Page.navigate", url=address)
        await self.until(f"location.href === {json.dumps(address)} && document.readyState !== 'loading'")

    async def size(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def prefer(self, scheme: str) -> None:
        """Set the preferred colour scheme: ``dark`` or ``light``."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.call("Emulation.setEmulatedMedia", features=[feature])

    async def press(self, key: str, *held: str) -> None:
        """Press one key.

        Args:
            key: a character, or a name such as ``Enter``.
            held: ``Control``, ``Shift`` or ``Alt``.
        """
        text = "" if held else {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = _KEY_CODES.get(key) or (ord(key.upper()) if held and key.isalnum() else 0)
        modifiers = sum(_MODIFIERS[each] for each in held)
        name = {".": "Period"}.get(key, f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key)
        event = {"key": key, "code": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    async def type(self, text: str) -> None:
        for character in text:
            await self.press("Enter" if character == "\n" else character)

    async def mouse(self, kind: str, x: float, y: float) -> None:
        """Send one mouse event: ``mousePressed``, ``mouseReleased`` or ``mouseMoved``."""
        held = {"button": "left", "clickCount": 1, "buttons": 0 if kind == "mouseReleased" else 1}
        await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    async def click(self, x: float, y: float) -> None:
        await self.mouse("mousePressed", x, y)
        await self.mouse("mouseReleased", x, y)

    async def point(self, x: float, y: float) -> None:
        """Move the mouse, with no button pressed."""
        await self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=0)

    async def picture(self) -> bytes:
        """Return the visible part of the page as PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(answer["data"])

    async def close(self) -> None:
        await self._connection.close()
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listening


@asynccontextmanager
async def browser_tab(program: str, width: int = 1280, height: int = 800) -> AsyncIterator[Tab]:
    """Open a tab in a browser of its own, with a new profile.

    Both end with the context.
    """
    # Not at the top: the installation runs before anything else is installed.
    from websockets.asyncio.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            *(program, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            address = await asyncio.wait_for(_address(process), _START_SECONDS)
            # A browser may be busy for half a minute, so it is not pinged.
            options: dict[str, Any] = {"max_size": None, "open_timeout": _START_SECONDS, "ping_interval": None}
            tab = Tab(await connect(await _first_page(address), **options))
            for domain in ("Page", "Runtime", "Network"):
                await tab.call(f"{domain}.enable")
            await tab.size(width, height)
            try:
                yield tab
            finally:
                await tab.close()
        finally:
            # The browser's own children are in its process group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    output = []
    async for line in process.stderr:
        output.append(line.decode(errors="replace"))
        if "DevTools listening on" in output[-1]:
            return output[-1].split()[-1]
    raise RuntimeError(f"the browser ended: {''.join(output)}")


async def _first_page(address: str) -> str:
    """Return the address of the tab that the browser opens at its start."""
    from websockets.asyncio.client import connect

    async with connect(address, max_size=None, open_timeout=_START_SECONDS) as connection:
        while True:
            await connection.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
            targets = json.loads(await connection.recv())["result"]["targetInfos"]
            for target in targets:
                if target["type"] == "page":
                    return f"{address.rpartition('/devtools/')[0]}/devtools/page/{target['targetId']}"
            await asyncio.sleep(0.05)


def main() -> int:
    if find_chromium() is not None:
        return 0
    install(["chromium", "fonts-dejavu-core"], "the graph view is not tested")
    return 0


if __name__ == "__main__":
    sys.exit(main())
