"""The verdicts of torch.export and torch.compile in an editor, with the torch that runs the tests."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from dev.rpc import Json
from fxlsp.report.codes import CONTROL_FLOW
from fxlsp.report.frontend_codes import BREAK_AT_VALUE, EXPORT_BRANCH
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding
from tests.support.settings_file import change_settings, write_settings

COMMAND = "fxlsp.askFrontends"
HAS_COLUMNS = sys.version_info >= (3, 11) and tuple(map(int, version("torch").split(".")[:2])) >= (2, 9)
"""Whether torch.compile names the column of a break."""
LINE = "class Net(nn.Module):"
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return torch.relu(x)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""
BRANCHING = NET.replace("return torch.relu(x)", "'é𝒳'; return x + 1 if x.sum() > 0 else x")
FINE = "export: exports with a dynamic batch · compile: compiles as one graph"
FOUND = "export: 1 problem · compile: 1 graph break"
FAILING = NET.replace("torch.relu(x)", "x.view(7, 5)")


async def lens(client: Client, buffer: Buffer) -> str:
    """Return the text of the lens of the class."""
    return next(text for line, text in await client.lenses(buffer) if line == LINE)


async def ask(client: Client, *arguments: str) -> Any:
    """Return the answer of the command, for which three processes run torch one after another."""
    params = {"command": COMMAND, "arguments": list(arguments)}
    return await client.connection.request("workspace/executeCommand", params, limit=240.0)


async def until_lens(client: Client, buffer: Buffer, end: str) -> None:
    await client.until(lambda: lens(client, buffer), lambda text: text.endswith(end))


def own(problems: list[Json] | None) -> list[Json]:
    """Return the problems of other front ends."""
    return [each for each in problems or () if str(each["code"]).startswith(("FX7", "FX8"))]


async def test_the_command_puts_verdicts_into_the_lens_and_an_edit_takes_them_away(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await until_lens(client, buffer, "traceable")
    answer = await ask(client, buffer.uri, "Net")
    assert answer["model"] == "Net"
    assert [each["summary"] for each in answer["frontends"]] == [
        "exports with a dynamic batch",
        "compiles as one graph",
    ]
    assert (await lens(client, buffer)).endswith(f"traceable · {FINE}")
    client.replace(buffer, "return", "# the same program\n        return")
    assert (await lens(client, buffer)).endswith(f"traceable · {FINE}")
    client.replace(buffer, "torch.relu(x)", "torch.tanh(x)")
    await until_lens(client, buffer, "traceable")
    await client.rest()
    assert (await lens(client, buffer)).endswith("traceable")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_problems_are_information_at_their_expressions(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding=encoding))
    buffer = client.open(tmp_path / "net.py", BRANCHING)
    await client.rest()
    await ask(client, buffer.uri, "Net")
    await until_lens(client, buffer, FOUND)
    problems = await client.until(lambda: client.problems(buffer), lambda found: len(own(found)) == 2)
    found = sorted((each["code"], each["severity"], each["message"].split(":")[0]) for each in own(problems))
    assert found == [(EXPORT_BRANCH, 3, "torch.export"), (BREAK_AT_VALUE, 3, "torch.compile")]
    line = BRANCHING.split("\n")[6].strip()
    places = {each["code"]: client.covered(buffer, each["range"]).strip() for each in own(problems)}
    if HAS_COLUMNS:
        assert places == dict.fromkeys((EXPORT_BRANCH, BREAK_AT_VALUE), "x.sum() > 0")
    else:
        assert all(place in line for place in places.values())
    client.replace(buffer, "import torch\n", "import torch\n# moved\n")
    problems = await client.until(lambda: client.problems(buffer), lambda found: len(own(found)) == 2)
    assert {each["range"]["start"]["line"] for each in own(problems)} == {7}
    client.replace(buffer, "x.sum() > 0", "True")
    await client.until(lambda: client.problems(buffer), lambda found: found is not None and not own(found))


async def test_comments_and_settings_apply_to_them(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(configuration=True), settings={"severities": {"FX7": "warning"}})
    text = BRANCHING.replace("else x\n", f"else x  # fxlsp: ignore[{BREAK_AT_VALUE}, {CONTROL_FLOW}]\n")
    buffer = client.open(tmp_path / "net.py", text)
    await client.rest()
    await ask(client, buffer.uri, "Net")
    problems = await client.until(lambda: client.problems(buffer), lambda found: found)
    assert [(each["code"], each["severity"]) for each in problems or ()] == [(EXPORT_BRANCH, 2)]
    change_settings(client, ignore=["FX7"])
    await client.until(lambda: client.problems(buffer), lambda found: found == [])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no columns: torch.fx is reported at the line")
async def test_an_operation_that_fails_anyway_is_one_problem(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", FAILING)
    await client.rest()
    before = await client.until(lambda: client.problems(buffer), lambda found: found)
    answer = await ask(client, buffer.uri, "Net")
    assert [each["verdict"] for each in answer["frontends"]] == ["problem", "problem"]
    await client.rest()
    assert await client.problems(buffer) == before


@pytest.mark.parametrize("by_client", [False, True])
async def test_the_setting_asks_by_itself_and_never_about_the_same_text_again(
    start: Start, tmp_path: Path, by_client: bool
) -> None:
    client = await start(Abilities(configuration=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.rest()
    assert (await lens(client, buffer)).endswith("traceable")
    if by_client:
        change_settings(client, frontends=["export"])
    else:
        write_settings(client, tmp_path, '[tool.fxlsp]\nfrontends = ["export"]\n')
    await until_lens(client, buffer, "traceable · export: exports with a dynamic batch")
    client.replace(buffer, "torch.relu(x)", "torch.relu(x) if x.sum() > 0 else x")
    await until_lens(client, buffer, "export: 1 problem")
    assert len(own(await client.until(lambda: client.problems(buffer), own))) == 1
    if by_client:
        change_settings(client, frontends=None)
    else:
        write_settings(client, tmp_path, "")
    await client.until(lambda: lens(client, buffer), lambda text: "export" not in text)
    await client.until(lambda: client.problems(buffer), lambda found: found is not None and not own(found))


async def test_a_model_without_a_trace_is_not_asked_about(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("return torch.relu(x)", "return y ="))
    await client.rest()
    assert await ask(client, buffer.uri, "Net") is None
    assert await ask(client, buffer.uri) is None
    messages = [params["message"] for params in client.said("window/showMessage")]
    assert messages[0].startswith(
        "torch.export and torch.compile were not asked about the present text of Net: not traced"
    )
    assert messages[1] == "No model of this file has a trace yet."


async def test_what_the_user_asks_has_a_progress_display(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(progress=True))
    text = NET.replace("return", "__import__('time').sleep(0.8 * torch.compiler.is_compiling())\n        return")
    buffer = client.open(tmp_path / "net.py", text)
    await client.rest()
    assert await ask(client, buffer.uri, "Net") is not None
    messages = [params["value"].get("message") for params in client.said("$/progress")]
    assert any(str(message).startswith("asking torch.") for message in messages)
