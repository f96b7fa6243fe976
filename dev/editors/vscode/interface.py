"""The packed extension used with mouse and keyboard, from its readme to the graph.

The pictures taken on the way are those of the readmes.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from dev.editors.vscode.endings import loses_its_extension_host
from dev.editors.vscode.installation import installation
from dev.editors.vscode.readme import Steps, install
from dev.editors.vscode.suites import make_interpreter
from dev.editors.vscode.tools import Tools
from dev.editors.vscode.user import PATIENCE, User
from dev.editors.vscode.workbench import workbench
from dev.environment import PROJECT

_SETTINGS = {
    "fxlsp.limits.seconds": 60,
    "editor.fontSize": 13,
    "files.exclude": {"**/.venv": True},
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.layoutControl.enabled": False,
    "workbench.editor.useModal": "off",
    "breadcrumbs.enabled": False,
    "editor.hover.delay": 100,
}

_STEPS = (
    "Choose the Python of your project",
    "Trust the workspace",
    "Open a model and read its shapes",
    "Look at the graph",
)
"""Those of the walkthrough."""


async def run_interface(tools: Tools, followed: Steps, pictures: Path) -> None:
    """Install the packed extension as its readme states, and use it.

    Raises:
        TimeoutError: something that a user should see does not appear.
        AssertionError: something else appears.
        LeftoverError: processes outlived the editor, or its extension host.
    """
    with tempfile.TemporaryDirectory() as temporary, installation(tools, _SETTINGS) as installed:
        install(installed, followed.install)
        folder = _project(Path(temporary) / "examples", followed.model)
        async with workbench(installed, folder, ask_for_trust=True) as bench:
            user = Reader(bench, pictures)
            try:
                await user.opens_the_folder_without_trust()
                await user.opens_the_walkthrough()
                await user.sees_that_nothing_is_traced("net.py")
                await user.trusts_by_the_lens("net.py")
                await user.reads_the_first_shapes(followed.recipe)
                await user.reads_shapes("resnet.py")
                await user.hovers()
                await user.picks_a_recipe()
                await user.picks_an_instance()
                await user.uses_the_graph()
                await user.has_walked_through()
                await user.fixes_a_problem("early_exit.py")
                await loses_its_extension_host(bench)
                await user.goes_on_after_a_crash("net.py")
            except BaseException:
                await user.picture("failed")
                raise
    print("passed interface: from the readme's three steps to the graph, a fix and a crash of the host", flush=True)


def _project(folder: Path, model: str) -> Path:
    """Create a folder with the examples, the readme's model and an interpreter.

    The interpreter is where the readme expects it.
    """
    shutil.copytree(PROJECT / "examples", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "net.py").write_text(model, encoding="utf-8")
    make_interpreter(folder / ".venv")
    return folder


class Reader(User):
    """User who has read the readme and tries each feature of it."""

    async def opens_the_folder_without_trust(self) -> None:
        await self.waits_for_the_editor()
        await self.sees(".monaco-workbench", "Restricted Mode")

    async def opens_the_walkthrough(self) -> None:
        """Open the walkthrough, as VS Code does by itself after an installation.

        Nothing that happens before counts for any of its steps.
        """
        await self.runs_command("Welcome: Open Walkthrough")
        await self.click(".quick-input-list .monaco-list-row", "Get started with fxlsp")
        for title in _STEPS:
            await self.sees(".getting-started-step", title)
        await self.tab.until(f"document.querySelectorAll('.getting-started-step').length === {len(_STEPS)}", PATIENCE)

    async def sees_that_nothing_is_traced(self, name: str) -> None:
        await self.opens(name)
        await self.sees(".codelens-decoration a", "not traced: trust this workspace first")
        await self.reads_the_status("fxlsp: workspace not trusted", "Nothing is traced", "Trust")
        await self.picture("not-trusted")

    async def trusts_by_the_lens(self, name: str) -> None:
        await self.click(".codelens-decoration a", "not traced: trust this workspace first")
        await self.click(".workspace-trust-editor .monaco-button", "Trust")
        await self.sees(".workspace-trust-editor", "You trust this folder")
        await self.opens(name)
        await self.sees(".codelens-decoration a", "· traceable")

    async def reads_the_first_shapes(self, recipe: str) -> None:
        """See the shapes of the recipe that was found, then those of the typed one.

        The readme has the user write the second.
        """
        await self.sees(".view-line", "(2, 64, 31, 31)")
        await self.reads_the_status("fxlsp: torch 2.", ".venv/bin/python (Python 3.")
        await self.tab.click(*await self.place_of("class Net(nn.Module):", "class"))
        await self.tab.press("Home")
        await self.tab.type(recipe)
        await self.sees(".view-line", "(1, 64, 15, 15)")
        await self.sees(
            ".codelens-decoration a", "recipe: Net(width=64, kinds=10)(torch.randn(1, 3, 32, 32)) · comment"
        )
        await self.picture("readme")
        await self.tab.press("s", "Control")
        await self.never_sees(".tab.dirty", "net.py")

    async def reads_shapes(self, name: str) -> None:
        await self.opens(name)
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
        await self.never_sees(".quick-input-list .monaco-list-row", "(classes=10)")

    async def picks_an_instance(self) -> None:
        await self.tab.press("Home", "Control")
        await self.click(".codelens-decoration a", "layer1.0 (+")
        await self.click(".quick-input-list .monaco-list-row", "layer2.0")
        await self.sees(".codelens-decoration a", "layer2.0 (+")
        await self.sees(".codelens-decoration a", "· chosen")
        await self.picture("instance")
        await self.click(".codelens-decoration a", "layer2.0 (+")
        await self.click(".quick-input-list .monaco-list-row", "The first one")
        await self.sees(".codelens-decoration a", "layer1.0 (+")

    async def uses_the_graph(self) -> None:
        await self.click(".codelens-decoration a", "graph")
        await self.tab.until("graphDocument()?.documentElement.dataset.pictures >= 1", PATIENCE)
        await self.tab.until("inGraph('.item', 'Conv2d')", PATIENCE)
        await self.picture("graph")
        await self.tab.click(*await self.tab.evaluate("middleInGraph(inGraph('.item', 'Conv2d'))"))
        # The line of the call of the stem.
        await self.sees(".statusbar-item", "Ln 45, Col")
        await self.picture("graph-click")
        await self.tab.press("Home", "Control")
        await self.changes("# fxlsp: ResNet", "64", "96")
        await self.tab.until("inGraph('.item', '(1, 3, 96, 64)')", PATIENCE)
        await self.picture("graph-after-edit")

    async def has_walked_through(self) -> None:
        """Check that VS Code has marked all steps of the walkthrough as done."""
        await self.opens_the_walkthrough()
        for title in _STEPS:
            await self.sees(".getting-started-step:has([aria-checked=true])", title)
        await self.comes_to_rest()
        await self.picture("walkthrough")

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
        await self.asks_for_fixes("Ignore FX101 here")
        await self.picture("fixes")
        await self.click(".action-widget .monaco-list-row", "Ignore FX101 here")
        await self.sees(".view-line", "# fxlsp: ignore[FX101]")
        await self.tab.until("!document.querySelector('.squiggly-warning')", PATIENCE)

    async def goes_on_after_a_crash(self, name: str) -> None:
        """See shapes after VS Code has restarted the extension host.

        That has started another server.
        """
        await self.tab.press("b", "Control")
        await self.opens(name)
        await self.reads_the_status("fxlsp: torch 2.")
        await self.sees(".view-line", "(1, 64, 15, 15)")
