"""A user with mouse and keyboard.

Each step waits for what the user would see.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from dev.editors.chromium import Tab
from dev.editors.vscode.workbench import Workbench

PATIENCE = 120.0
"""Seconds for anything to appear: torch is imported meanwhile, perhaps on a busy machine."""

# Functions that find things in the page. VS Code shows spaces of the source as non-breaking ones.
_HELPERS = """
window.textOf = (element) => element.textContent.replaceAll("\\u00a0", " ");
window.isShown = (element) => element.getClientRects().length > 0;
window.seen = (selector, part) => [...document.querySelectorAll(selector)]
    .find((each) => textOf(each).includes(part) && isShown(each));
window.middle = (element) => {
    if (!element) return undefined;
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
};
window.afterFrames = async (find) => {
    for (let frames = 5; frames > 0; frames--) await new Promise(requestAnimationFrame);
    return find() ?? null;
};
window.placeOf = (line, word) => {
    const found = seen(".view-line", line);
    if (!found) return undefined;
    const walker = document.createTreeWalker(found, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const at = node.data.indexOf(word);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        return middle(range);
    }
};
window.graphFrames = () => [...document.querySelectorAll("iframe.webview")]
    .map((outer) => [outer, outer.contentDocument?.querySelector("iframe#active-frame")])
    .find(([, inner]) => inner?.contentDocument?.querySelector("#canvas"));
window.graphDocument = () => graphFrames()?.[1].contentDocument;
window.inGraph = (selector, part) => [...(graphDocument()?.querySelectorAll(`#canvas ${selector}`) ?? [])]
    .find((each) => textOf(each).includes(part) && isShown(each));
window.middleInGraph = (element) => {
    let [x, y] = middle(element);
    for (const frame of graphFrames()) {
        const { left, top } = frame.getBoundingClientRect();
        [x, y] = [x + left, y + top];
    }
    return [x, y];
};
"""


class User:
    """What users do, and what they wait for."""

    def __init__(self, bench: Workbench, pictures: Path) -> None:
        self.bench = bench
        self.tab: Tab = bench.tab
        self.pictures = pictures

    async def waits_for_the_editor(self) -> None:
        await self.tab.until("document.querySelector('.monaco-workbench')", PATIENCE)
        await self.tab.evaluate(_HELPERS)

    async def runs_command(self, name: str) -> None:
        """Run a command by the command palette."""
        await self.tab.press("F1")
        await self.sees(".quick-input-widget .quick-input-title, .quick-input-widget", "")
        await self.tab.until("document.activeElement.closest('.quick-input-widget')", PATIENCE)
        await self.tab.type(name)
        await self.click(".quick-input-list .monaco-list-row", name)

    async def reads_the_status(self, *parts: str) -> None:
        """Hover over the language status, until it contains all parts."""

        async def rest() -> None:
            await self.tab.point(5, 5)
            await self.points_at("[id='status.languageStatus']", "")

        shown = " && ".join(f"seen('.hover-language-status', {json.dumps(part)})" for part in parts)
        await self._again_until(shown, 3, rest)

    async def changes(self, line: str, word: str, new: str) -> None:
        """Replace the first occurrence of a word in a line by typing."""
        x, y = await self.place_of(line, word)
        await self.tab.click(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=2)
        await self.tab.type(new)

    async def opens(self, name: str) -> None:
        await self.click(".explorer-folders-view .monaco-list-row", name)
        await self.sees(".tab.active", name)

    async def sees(self, selector: str, part: str) -> None:
        await self.tab.until(f"seen({json.dumps(selector)}, {json.dumps(part)})", PATIENCE)

    async def never_sees(self, selector: str, part: str) -> None:
        """Wait until something is not, or no longer, shown."""
        await self.tab.until(f"!seen({json.dumps(selector)}, {json.dumps(part)})", PATIENCE)

    async def points_at(self, selector: str, part: str) -> tuple[float, float]:
        x, y = await self._resting(selector, part, f"middle(seen({json.dumps(selector)}, {json.dumps(part)}))")
        await self.tab.point(x, y)
        return x, y

    async def click(self, selector: str, part: str) -> None:
        await self.tab.click(*await self.points_at(selector, part))

    async def asks_for_fixes(self, expected: str) -> None:
        """Press Ctrl+. until the list of fixes is shown.

        It closes again when something else, such as a hint, moves.
        """
        shown = f"seen('.action-widget .monaco-list-row', {json.dumps(expected)})"
        await self._again_until(shown, 5, lambda: self.tab.press(".", "Control"))

    async def rests_on(self, line: str, word: str, shown: str) -> None:
        """Move the mouse onto a word of a line, until a hover with a text appears."""

        async def move() -> None:
            x, y = await self.place_of(line, word)
            await self.tab.point(x, y)
            await self.tab.point(x + 1, y)

        # The line may move meanwhile, as lenses and side bars come and go.
        await self._again_until(f"seen('.monaco-hover', {json.dumps(shown)})", 3, move)

    async def moves_away(self, part: str) -> None:
        """Move the mouse away, until the hover is closed."""
        await self.tab.point(5, 5)
        await self.tab.until(f"!seen('.monaco-hover', {json.dumps(part)})", PATIENCE)

    async def place_of(self, line: str, word: str) -> tuple[float, float]:
        """Return the middle of the first occurrence of a word in a line of the source."""
        return await self._resting(".view-line", line, f"placeOf({json.dumps(line)}, {json.dumps(word)})")

    async def _again_until(self, shown: str, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        """Repeat an action, until an expression is true within ``seconds`` after it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            await act()
            try:
                await self.tab.until(shown, seconds)
                return
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise

    async def _resting(self, selector: str, part: str, place: str) -> tuple[float, float]:
        """Return the value of an expression once it no longer changes.

        Everything glides, scrolls and is drawn anew before.
        """
        found, before = None, None
        while found is None or found != before:
            await self.sees(selector, part)
            before, found = found, await self.tab.evaluate(f"afterFrames(() => {place})")
        x, y = found
        return x, y

    async def comes_to_rest(self) -> None:
        """Wait until everything that appears has faded in."""
        await self.tab.until("document.getAnimations().every((each) => each.playState !== 'running')", PATIENCE)

    async def picture(self, name: str) -> None:
        (self.pictures / f"{name}.png").write_bytes(await self.tab.picture())
