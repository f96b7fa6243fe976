"""Pictures of files with problems in VS Code, in dark and in light.

``python -m dev.editors.vscode.gallery FOLDER PICTURES`` opens each Python file of a folder, waits for its problems, and
writes ``NAME-dark.png`` and ``NAME-light.png``, with the list of problems below the text, and ``NAME-dark-hover.png``
and ``NAME-light-hover.png``, with the mouse on the first problem. Files to look at are made
by ``python -m benchmarks.mistakes table --write FOLDER``.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from dev.editors.vscode.extension import build
from dev.editors.vscode.installation import installation
from dev.editors.vscode.tools import MissingError, Tools, tools
from dev.editors.vscode.user import PATIENCE, User
from dev.editors.vscode.workbench import workbench
from dev.vsix import UNIVERSAL, pack

_THEMES = {"dark": "Default Dark Modern", "light": "Default Light Modern"}
SETTINGS = {
    "fxlsp.server.command": [sys.executable, "-m", "fxlsp", "serve"],
    "fxlsp.python": sys.executable,
    "fxlsp.limits.seconds": 60,
    "editor.fontSize": 13,
    "editor.hover.delay": 100,
    "breadcrumbs.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.layoutControl.enabled": False,
}
_SQUIGGLE = "document.querySelector('.squiggly-error, .squiggly-warning, .squiggly-info, .squiggly-hint')"


async def take_pictures(
    found: Tools, package: Path, folder: Path, names: list[str], pictures: Path, theme: str
) -> None:
    """Take the pictures of the named files of a folder in one theme.

    Raises:
        TimeoutError: a file shows no problem.
        LeftoverError: processes outlived the editor.
    """
    settings = {**SETTINGS, "workbench.colorTheme": _THEMES[theme]}
    with tempfile.TemporaryDirectory() as temporary, installation(found, settings) as installed:
        await installed.install(package)
        opened = Path(shutil.copytree(folder, Path(temporary) / "gallery"))
        async with workbench(installed, opened) as bench:
            user = User(bench, pictures)
            await user.waits_for_the_editor()
            await user.runs_command("View: Toggle Problems")
            for name in names:
                try:
                    await _take_pictures_of(user, name, theme)
                except TimeoutError:
                    await user.picture(f"{name}-{theme}-failed")
                    raise
                print(f"{name}.py, {theme}", flush=True)


async def _take_pictures_of(user: User, name: str, theme: str) -> None:
    await user.runs_command("View: Close All Editors")
    await user.tab.until(f"!{_SQUIGGLE}", PATIENCE)
    await user.never_sees(".markers-panel .marker-line", "[Ln ")
    await user.opens(f"{name}.py")
    # A click in the list of problems scrolls the text to the first of them, which may be far down.
    await user.sees(".markers-panel .marker-line", "[Ln ")
    await user.click(".markers-panel .marker-line", "[Ln ")
    await user.tab.until(_SQUIGGLE, PATIENCE)
    await user.comes_to_rest()
    await user.picture(f"{name}-{theme}")
    await user.tab.point(*await user.tab.evaluate(f"middle({_SQUIGGLE})"))
    await user.sees(".monaco-hover", "FX")
    await user.comes_to_rest()
    await user.picture(f"{name}-{theme}-hover")
    await user.moves_away("FX")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.editors.vscode.gallery", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="with Python files, each with a problem")
    parser.add_argument("pictures", type=Path, help="where the pictures are written")
    parser.add_argument("--themes", nargs="*", default=list(_THEMES), choices=list(_THEMES))
    arguments = parser.parse_args()
    try:
        found = tools()
    except MissingError as error:
        print(f"No pictures: {error}.", file=sys.stderr)
        return 1
    arguments.pictures.mkdir(parents=True, exist_ok=True)
    build(found.node, tests=False)
    package = pack(found.node, UNIVERSAL)
    names = sorted(path.stem for path in arguments.folder.glob("*.py"))
    for theme in arguments.themes:
        asyncio.run(take_pictures(found, package, arguments.folder, names, arguments.pictures, theme))
    return 0


if __name__ == "__main__":
    sys.exit(main())
