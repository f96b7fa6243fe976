"""A workspace in which every file tries to run something, before it is trusted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from dev.rpc import Json, RpcError
from fxlsp.server.shared import command_names
from tests.server.conftest import Start
from tests.support.client import Abilities, Client
from tests.support.leftovers import processes
from tests.support.notebooks import Notebook

MODEL = """\
from pathlib import Path

import torch
from torch import nn

Path(MARKER).touch()


# fxlsp: Net(Path(MARKER).touch())(torch.randn(2, 3, device=Path(MARKER).touch()))
class Net(nn.Module):
    marker = Path(MARKER).touch()

    def __init__(self, width=Path(MARKER).touch()):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x: Path(MARKER).touch()):
        return self.fc(x)


Net(Path(MARKER).touch())(torch.randn(2, 3))
"""
REQUESTS = ("codeLens", "documentSymbol", "diagnostic")
AT_A_PLACE = ("hover", "definition", "implementation", "prepareCallHierarchy")
SHADOWED = ("asyncio", "json", "pygls", "lsprotocol", "tree_sitter", "torch", "fxlsp_plugin", "site", "encodings")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Return the path of a file that exists once something of the workspace has run."""
    return tmp_path.parent / f"{tmp_path.name}.ran"


@pytest.fixture
def workspace(tmp_path: Path, marker: Path) -> Path:
    touch = f"open({str(marker)!r}, 'w').close()\n"
    shell = f"#!/bin/sh\ntouch '{marker}'\nexec '{sys.executable}' \"$@\"\n"
    model = MODEL.replace("MARKER", repr(str(marker)))
    cells: list[Json] = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": model}]
    table = f"""
        [build-system]
        requires = []
        build-backend = "setup"
        [tool.fxlsp]
        python = ".venv/bin/python"
        trusted = true
        tracer = "tracer.py:Tracer"
        wrap = ["tracer.py:wrapped"]
        problems = "workspace"
        recipes = {{ Net = "Net(open('{marker}', 'w'))(1)" }}
    """
    files = {
        "net.py": model,
        "use.py": f"from net import Net\n{touch}Net()(1)\n",
        "notebook.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        "tracer.py": f"import torch.fx\n{touch}class Tracer(torch.fx.Tracer): pass\ndef wrapped(x): return x\n",
        "pyproject.toml": textwrap.dedent(table),
        ".vscode/settings.json": json.dumps({"fxlsp.trusted": True, "fxlsp.server.command": ["sh", "-c", "touch x"]}),
        ".env": "FXLSP_TRUST=1\n",
        ".venv/pyvenv.cfg": f"home = {Path(sys.base_prefix) / 'bin'}\ninclude-system-site-packages = true\n",
        **{f".venv/bin/{name}": shell for name in ("python", "python3", "fxlsp", "activate")},
        **{f".venv/lib/python3.{minor}/site-packages/evil.pth": f"import sys; {touch}" for minor in range(10, 15)},
        **{f"{name}.py": touch for name in ("sitecustomize", "usercustomize", "conftest", "setup", *SHADOWED)},
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.parent.name == "bin":
            path.chmod(0o755)
    return tmp_path


async def test_no_request_and_no_command_runs_anything_of_it(start: Start, workspace: Path, marker: Path) -> None:
    abilities = Abilities(pulls=True)
    client = await start(abilities, trusted=False, options={"python": None}, environment={"FXLSP_TRUST": "0"})
    buffer = client.open(workspace / "net.py")
    place = client.position(buffer, buffer.text.index("self.fc(x)"))
    for name in REQUESTS:
        await client.ask(f"textDocument/{name}", buffer)
    for name in AT_A_PLACE:
        await client.ask(f"textDocument/{name}", buffer, position=place, context={"includeDeclaration": True})
    await client.hints(buffer)
    assert await client.connection.request("workspace/symbol", {"query": "Net"})
    await refused_or_answered(client, buffer.uri)
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 5)")
    assert [title for _, title in await client.lenses(buffer)] == ["not traced: trust this workspace first"]
    await client.stop()
    assert not os.path.exists(marker)  # noqa: ASYNC240  # the server has ended


async def test_nothing_runs_when_a_large_workspace_and_its_notebooks_are_read(
    start: Start, workspace: Path, marker: Path, mark: str
) -> None:
    """The process that reads a large workspace imports nothing of it either."""
    model = (workspace / "net.py").read_text(encoding="utf-8")
    for number in range(40):
        body = "".join(f"    def method{each}(self): return self.fc\n" for each in range(400))
        (workspace / f"large{number}.py").write_text(f"{model}\n\nclass Large{number}(nn.Module):\n{body}")
    cache = {"XDG_CACHE_HOME": str(workspace.with_suffix(".cache"))}
    abilities = Abilities(notebooks=True)
    environment = {"FXLSP_TRUST": "0", **cache}
    client = await start(abilities, trusted=False, options={"python": None}, environment=environment)
    notebook = Notebook(client, (workspace / "notebook.ipynb").as_uri(), ["from net import Net\nNet()", model])
    commands: set[str] = set()

    async def symbols() -> Json:
        commands.update(processes(mark).values())
        return await client.connection.request("workspace/symbol", {"query": "Large39"})

    assert await client.until(symbols, bool)
    assert any("reader_main.py" in command for command in commands)
    for cell in notebook.cells:
        await client.ask("textDocument/documentSymbol", cell)
        await client.hints(cell)
    notebook.replace(notebook.cells[1], "Linear(3, 4)", "Linear(3, 5)")
    await client.lenses(notebook.cells[1])
    await client.stop()
    assert not os.path.exists(marker)  # noqa: ASYNC240  # the server has ended


async def test_once_it_is_trusted_its_interpreter_is_started(start: Start, workspace: Path, marker: Path) -> None:
    """What a trace runs could not write the marker, so its interpreter does: else the test above could not fail."""
    client = await start(options={"python": None})
    client.open(workspace / "net.py")

    async def has_run() -> bool:
        return os.path.exists(marker)  # noqa: ASYNC240  # a local file

    assert await client.until(has_run, bool)


async def refused_or_answered(client: Client, uri: str) -> None:
    """Execute all commands but the one that gives trust; one may refuse."""
    commands = {value for value in vars(command_names).values() if str(value).startswith("fxlsp.")}
    assert len(commands) > 10
    for command in sorted(commands - {command_names.TRUST}):
        argument = {"uri": uri, "class": "Net", "position": {"line": 18, "character": 20}}
        with suppress(RpcError):
            await client.command(command, argument)


@pytest.mark.real
@pytest.mark.parametrize("command", [("serve",), ("--version",)])
def test_the_command_line_imports_nothing_of_the_folder_in_which_it_is_started(
    command: tuple[str, ...], workspace: Path, marker: Path
) -> None:
    run = [sys.executable, "-m", "fxlsp", *command]
    subprocess.run(run, cwd=workspace, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
    assert not marker.exists()
