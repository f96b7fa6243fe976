"""Runs the extension's own tests in the real extension host."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from dev.environment import PROJECT
from dev.vscode.tools import EXTENSION, Tools
from dev.vscode.workbench import workbench

LIMIT = 900
"""Seconds for all of them."""


async def run_host_tests(tools: Tools, pictures: Path) -> int:
    """Runs them and prints a line for each; how many failed.

    Raises:
        TimeoutError: they do not come to their end.
        LeftoverError: processes outlived the editor.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "workspace"
        shutil.copytree(EXTENSION / "test" / "workspace", folder)
        for example in (PROJECT / "examples").glob("*.py"):
            shutil.copy(example, folder)
        results = Path(temporary) / "results.jsonl"
        settings = {
            "fxlsp.server.command": [sys.executable, "-m", "fxlsp", "serve"],
            "fxlsp.python": sys.executable,
            "fxlsp.profile": "fx",
            "fxlsp.limits.seconds": 60,
        }
        environment = {"FXLSP_TEST_RESULTS": str(results)}
        tests = EXTENSION / "dist" / "tests.js"
        async with workbench(
            tools, folder, settings=settings, extension=EXTENSION, tests=tests, environment=environment
        ) as bench:
            failed = 1
            try:
                failed = await asyncio.wait_for(_followed(results), LIMIT)
            finally:
                if failed:
                    (pictures / "host-tests.png").write_bytes(await bench.tab.picture())
                    print(f"The extension's log:\n{bench.log()}", flush=True)
            return failed


async def _followed(results: Path) -> int:
    """Prints what is added to a file of results until it ends."""
    told, failed = 0, 0
    while True:
        lines = _lines(results)
        for line in lines[told:]:
            if "done" in line:
                return failed
            failed += "error" in line
            verdict = "FAILED" if "error" in line else "passed"
            print(f"{verdict} {line['name']} ({line['milliseconds'] / 1000:.1f} s)", flush=True)
            if "error" in line:
                print(line["error"], flush=True)
        told = len(lines)
        await asyncio.sleep(0.2)


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    # The last line may be half written.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
