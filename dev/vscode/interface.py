"""The packed extension used with mouse and keyboard: from a workspace that nobody trusts to a click in the graph.

Each step waits for what a user would see. The pictures on the way are what the readme shows.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from dev.chromium import Tab
from dev.environment import PROJECT
from dev.vscode.tools import Tools
from dev.vscode.workbench import Workbench, workbench

PATIENCE = 40.0
"""Seconds for anything to appear: torch is imported meanwhile, maybe on a busy machine."""

_SETTINGS = {
    "fxlsp.python": sys.executable,
    "fxlsp.profile": "fx",
    "fxlsp.limits.seconds": 60,
    "editor.fontSize": 13,
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.layoutControl.enabled": False,
    "workbench.editor.useModal": "off",
    "breadcrumbs.enabled": False,
    "editor.hover.delay": 100,
}

# What is looked for in the page. VS Code shows spaces of the source as non-breaking ones.
_HELPERS = """
window.textOf = (element) => element.textContent.replaceAll("\\u00a0", " ");
window.isShown = (element) => element.getClientRects().length > 0;
window.seen = (selector, part) => [...document.querySelectorAll(selector)]
    .find((each) => textOf(each).includes(part) && isShown(each));
window.middle = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
};
window.placeOf = (line, word) => {
    const walker = document.createTreeWalker(seen(".view-line", line), NodeFilter.SHOW_TEXT);
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


async def run_interface(tools: Tools, package: Path, pictures: Path) -> None:
    """Uses the packed extension.

    Raises:
        TimeoutError: something that a user should see does not appear.
        AssertionError: something else appears.
        LeftoverError: processes outlived the editor.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "examples"
        shutil.copytree(PROJECT / "examples", folder, ignore=shutil.ignore_patterns("__pycache__"))
        async with workbench(tools, folder, settings=_SETTINGS, extension=package, ask_for_trust=True) as bench:
            user = User(bench, pictures)
            try:
                await user.opens_the_folder_without_trust()
                await user.sees_that_nothing_is_traced("resnet.py")
                await user.trusts_by_the_lens()
                await user.reads_shapes()
                await user.hovers()
                await user.picks_a_recipe()
                await user.uses_the_graph()
                await user.fixes_a_problem("early_exit.py")
            except BaseException:
                await user.picture("failed")
                print(f"The extension's log:\n{bench.log()}", flush=True)
                raise


class User:
    """Somebody in front of the screen."""

    def __init__(self, bench: Workbench, pictures: Path) -> None:
        self.bench = bench
        self.tab: Tab = bench.tab
        self.pictures = pictures

    async def opens_the_folder_without_trust(self) -> None:
        await self.tab.until("document.querySelector('.monaco-workbench')", PATIENCE)
        await self.tab.evaluate(_HELPERS)
        await self.sees(".monaco-workbench", "Restricted Mode")

    async def sees_that_nothing_is_traced(self, name: str) -> None:
        await self.opens(name)
        await self.sees(".codelens-decoration a", "not traced: trust this workspace first")
        await self.picture("not-trusted")

    async def trusts_by_the_lens(self) -> None:
        await self.click(".codelens-decoration a", "not traced: trust this workspace first")
        await self.click(".workspace-trust-editor .monaco-button", "Trust")
        await self.sees(".workspace-trust-editor", "You trust this folder")
        await self.opens("resnet.py")
        await self.sees(".codelens-decoration a", "· traceable")

    async def reads_shapes(self) -> None:
        await self.sees(".view-line", "(1, 32, 32, 32)")
        await self.tab.press("b", "Control")
        await self.picture("shapes")

    async def hovers(self) -> None:
        await self.rests_on("self.conv1(x)", "conv1", "layer2.0.conv1")
        await self.comes_to_rest()
        await self.picture("hover")
        await self.moves_away("layer2.0.conv1")

    async def picks_a_recipe(self) -> None:
        await self.click(".codelens-decoration a", "recipe: ")
        await self.sees(".quick-input-list .monaco-list-row", "(classes=10)")
        await self.comes_to_rest()
        await self.picture("recipes")
        await self.tab.press("Escape")
        await self.tab.until("!seen('.quick-input-list .monaco-list-row', '(classes=10)')", PATIENCE)

    async def uses_the_graph(self) -> None:
        await self.click(".codelens-decoration a", "graph")
        await self.tab.until("graphDocument()?.documentElement.dataset.pictures >= 1", PATIENCE)
        await self.tab.until("inGraph('.item', 'Conv2d')", PATIENCE)
        await self.picture("graph")
        await self.tab.click(*await self.tab.evaluate("middleInGraph(inGraph('.item', 'Conv2d'))"))
        # Where the stem is called.
        await self.sees(".statusbar-item", "Ln 45, Col")
        await self.picture("graph-click")
        await self.tab.press("Home", "Control")
        await self.changes("# fxlsp: ResNet", "64", "96")
        await self.tab.until("inGraph('.item', '(1, 3, 96, 64)')", PATIENCE)
        await self.picture("graph-after-edit")

    async def fixes_a_problem(self, name: str) -> None:
        await self.tab.press("b", "Control")
        await self.opens(name)
        await self.tab.until("document.querySelector('.squiggly-warning')", PATIENCE)
        await self.tab.press("b", "Control")
        await self.rests_on("guess.amax", "amax", "FX101")
        await self.comes_to_rest()
        await self.picture("problem")
        await self.moves_away("FX101")
        await self.tab.click(*await self.place_of("guess.amax", "amax"))
        await self.sees(".statusbar-item", "Ln 18, Col")
        await self.tab.press(".", "Control")
        await self.sees(".action-widget .monaco-list-row", "Ignore FX101 here")
        await self.picture("fixes")
        await self.click(".action-widget .monaco-list-row", "Ignore FX101 here")
        await self.sees(".view-line", "# fxlsp: ignore[FX101]")
        await self.tab.until("!document.querySelector('.squiggly-warning')", PATIENCE)

    async def changes(self, line: str, word: str, new: str) -> None:
        """Types over the first occurrence of a word in a line."""
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

    async def click(self, selector: str, part: str) -> None:
        await self.sees(selector, part)
        x, y = await self.tab.evaluate(f"middle(seen({json.dumps(selector)}, {json.dumps(part)}))")
        await self.tab.point(x, y)
        await self.tab.click(x, y)

    async def rests_on(self, line: str, word: str, shown: str) -> None:
        """Moves the mouse onto a word of a line, until a hover with a text appears."""
        deadline = time.monotonic() + PATIENCE
        while True:
            x, y = await self.place_of(line, word)
            await self.tab.point(x, y)
            await self.tab.point(x + 1, y)
            try:
                await self.tab.until(f"seen('.monaco-hover', {json.dumps(shown)})", 3)
                return
            except TimeoutError:
                # The line may have moved meanwhile, as lenses and side bars come and go.
                if time.monotonic() > deadline:
                    raise

    async def moves_away(self, part: str) -> None:
        """Moves the mouse from what it rests on, until the hover is gone."""
        await self.tab.point(5, 5)
        await self.tab.until(f"!seen('.monaco-hover', {json.dumps(part)})", PATIENCE)

    async def place_of(self, line: str, word: str) -> tuple[float, float]:
        """The middle of the first occurrence of a word in a line of the source."""
        await self.sees(".view-line", line)
        x, y = await self.tab.evaluate(f"placeOf({json.dumps(line)}, {json.dumps(word)})")
        return x, y

    async def comes_to_rest(self) -> None:
        """What appears has faded in."""
        await self.tab.until("document.getAnimations().every((each) => each.playState !== 'running')", PATIENCE)

    async def picture(self, name: str) -> None:
        (self.pictures / f"{name}.png").write_bytes(await self.tab.picture())
