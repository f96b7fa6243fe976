"""How an editor records a run of its user's command: what the server answers, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dev.rpc import Json
from fxlsp.server.commands import record
from tests.server.conftest import Start
from tests.support.client import Abilities, Client
from tests.support.settings_file import change_settings, write_settings

NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
COMMAND = "python train.py --name 'a b'"


def behind_own(answer: Json) -> list[str]:
    """Return the arguments of ``fxlsp`` in an answer."""
    argv = answer["argv"]
    assert argv[0] == sys.executable
    return list(argv[argv.index("record") :])


async def test_a_command_is_run_in_the_folder_with_its_interpreter(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    answer = await client.command("fxlsp.record", buffer.uri, COMMAND)
    expected = ["record", "--python", sys.executable, "--", "python", "train.py", "--name", "a b"]
    assert behind_own(answer) == expected
    assert (answer["command"], answer["cwd"]) == (COMMAND, str(tmp_path))


async def test_without_a_command_the_editor_has_to_ask(start: Start, tmp_path: Path) -> None:
    client = await start()
    client.open(tmp_path / "net.py", NET)
    assert await client.command("fxlsp.record") == {"command": "", "argv": [], "cwd": str(tmp_path)}


@pytest.mark.parametrize("by_client", [False, True])
async def test_the_setting_names_a_command(start: Start, tmp_path: Path, by_client: bool) -> None:
    client = await start(Abilities(configuration=True))
    buffer = client.open(tmp_path / "net.py", NET)
    if by_client:
        change_settings(client, record={"command": "pytest -q"})
    else:
        write_settings(client, tmp_path, '[tool.fxlsp]\nrecord.command = "pytest -q"\n')
    answer = await client.until(
        lambda: client.command("fxlsp.record", buffer.uri), lambda found: found["command"] == "pytest -q"
    )
    assert behind_own(answer)[-3:] == ["--", "pytest", "-q"]


async def test_nothing_is_run_before_the_workspace_is_trusted(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fxlsp]\nrecord.command = "rm -r /"\n')
    client = await start(trusted=False, environment={"FXLSP_TRUST": "0"})
    buffer = client.open(tmp_path / "net.py", NET)
    assert await client.command("fxlsp.record", buffer.uri, COMMAND) is None
    assert await client.command("fxlsp.record", buffer.uri) is None
    assert "Trust this workspace first: a run executes its code." in said(client)


async def test_a_quotation_that_does_not_end_is_reported(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    assert await client.command("fxlsp.record", buffer.uri, "python 'train.py") is None
    assert "python 'train.py is not a command: No closing quotation." in said(client)


def said(client: Client) -> list[str]:
    return [params["message"] for method, params in client.heard if method == "window/showMessage"]


STARTED = {
    "as a module": (["-m", "fxlsp", "serve", "--stdio"], ["x/__main__.py", "serve", "--stdio"], ["-m", "fxlsp"]),
    "by its script": (["bin/fxlsp", "serve"], ["bin/fxlsp", "serve"], ["bin/fxlsp"]),
    "by an extension": (["-I", "python/serve.py"], ["python/serve.py"], ["-I", "python/serve.py"]),
}


@pytest.mark.parametrize("name", STARTED)
def test_the_recorder_is_started_as_the_server_was(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started, arguments, expected = STARTED[name]
    monkeypatch.setattr(sys, "orig_argv", ["python", *started])
    monkeypatch.setattr(sys, "argv", arguments)
    assert record.own_command() == [sys.executable, *expected]


@pytest.mark.parametrize("is_windows", [False, True])
def test_quotation_marks_hold_a_word_together(is_windows: bool) -> None:
    words = record.split_command('"run/train me.py" --out="b c" ""', is_windows)
    assert words == ["run/train me.py", "--out=b c", ""]
    with pytest.raises(ValueError, match="closing quotation"):
        record.split_command('python "train.py', is_windows)


def test_a_backslash_separates_folders_on_windows() -> None:
    words = record.split_command(r'python "C:\my code\train.py" -n 1', is_windows=True)
    assert words == ["python", r"C:\my code\train.py", "-n", "1"]
