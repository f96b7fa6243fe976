"""Runs the extension's own tests in the real extension host."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from dev.editors.chromium import Tab
from dev.editors.vscode.installation import installation
from dev.editors.vscode.suites import Suite
from dev.editors.vscode.tools import EXTENSION, Tools
from dev.editors.vscode.workbench import Development, workbench

LIMIT = 900
"""Seconds for a whole suite."""
_SETTINGS = {
    "fxlsp.server.command": [sys.executable, "-m", "fxlsp", "serve"],
    "fxlsp.profile": "fx",
    "fxlsp.limits.seconds": 60,
}


async def run_suite(tools: Tools, suite: Suite, pictures: Path, names: str = "") -> int:
    """Run the tests of a suite, print a line for each, and return how many failed.

    Args:
        tools: the editor.
        suite: the tests and their workspace.
        pictures: folder for a picture of a failure.
        names: words; only tests whose names contain them are run.

    Raises:
        TimeoutError: the tests do not end.
        LeftoverError: processes outlived the editor.
    """
    with tempfile.TemporaryDirectory() as temporary:
        opened = suite.prepare(Path(temporary))
        results = Path(temporary) / "results.jsonl"
        beside = [EXTENSION / "test" / "beside" / name for name in suite.beside]
        tests = EXTENSION / "dist" / "test" / f"{suite.name}.suite.js"
        variables = {
            "FXLSP_TEST_RESULTS": str(results),
            "FXLSP_TEST_NAMES": names,
            "FXLSP_TEST_PYTHON": sys.executable,
        }
        with installation(tools, {**_SETTINGS, **suite.settings}) as user:
            user.add(beside)
            async with workbench(
                user,
                opened,
                development=Development(EXTENSION, tests),
                environment=variables,
                ask_for_trust=suite.asks_for_trust,
            ) as bench:
                failed = 1
                try:
                    async with _trusting(bench.tab):
                        failed = await asyncio.wait_for(_followed(suite.name, results), LIMIT)
                finally:
                    if failed:
                        (pictures / f"{suite.name}.png").write_bytes(await bench.tab.picture())
                if not failed:
                    await suite.ending(bench)
                    how = suite.ending.__name__.replace("_", " ")
                    print(f"passed {suite.name}: nothing is left when VS Code {how}", flush=True)
                return failed


@contextlib.asynccontextmanager
async def _trusting(tab: Tab) -> AsyncIterator[None]:
    """Trust the workspace as soon as a test has opened VS Code's page for that.

    No extension can.
    """
    button = (
        "[...document.querySelectorAll('.workspace-trust-editor .monaco-button')]"
        ".find((each) => each.textContent.trim() === 'Trust' && each.getClientRects().length > 0)"
    )

    async def trust() -> None:
        while True:
            await tab.until(button, LIMIT)
            await tab.evaluate(f"{button}.click()")
            await tab.until(f"!{button}", LIMIT)

    task = asyncio.create_task(trust())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _followed(suite: str, results: Path) -> int:
    """Print what is added to a file of results until it ends; return the failures."""
    printed, failed = 0, 0
    while True:
        lines = _lines(results)
        for line in lines[printed:]:
            if "done" in line:
                return failed
            failed += "error" in line
            verdict = "FAILED" if "error" in line else "passed"
            print(f"{verdict} {suite}: {line['name']} ({line['milliseconds'] / 1000:.1f} s)", flush=True)
            if "error" in line:
                print(line["error"], flush=True)
        printed = len(lines)
        await asyncio.sleep(0.2)


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    # The last line may be half written.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
