"""Hovers, hints, lenses, settings, commands and progress as the editor gets them, by what it says it can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.rpc import Json
from fxlsp.engine.running.schedule import default_limit
from tests.server.conftest import Start
from tests.support.client import Abilities, Client

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        y = self.fc(x)
        return y.relu()
"""


def everything() -> Json:
    return {"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}}


async def test_markdown_and_tooltips_come_as_the_editor_wants_them(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(markdown=True, resolves_tooltips=True))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    hover = await client.hover(buffer, "self.fc(x)")
    assert hover["contents"]["kind"] == "markdown"
    assert "`Linear(in_features=3, out_features=4, bias=True)`" in hover["contents"]["value"]
    assert await client.hover(buffer, "import torch") is None
    (*_, hint) = await client.ask("textDocument/inlayHint", buffer, range=everything())
    assert "tooltip" not in hint
    resolved = await client.connection.request("inlayHint/resolve", hint)
    assert "from a comment" in resolved["tooltip"]["value"]


async def test_a_hover_on_a_model_that_waits_for_a_look_says_that_it_is_traced(start: Start, tmp_path: Path) -> None:
    # More than what a trace that hangs is charged, so that two of them use up the budget of the file.
    client = await start(options={"limits": {"seconds": 2.5}})
    hanging = NET.replace("y = self.fc(x)", "while True: pass")
    # One more than run at once, so that the file has used up its budget before the model behind them begins.
    texts = [hanging.replace("Net", f"Hanging{number}") for number in range(default_limit() + 1)]
    buffer = client.open(tmp_path / "net.py", "\n\n".join([*texts, NET]))
    await client.until(
        lambda: client.lenses(buffer), lambda lenses: sum("did not finish" in text for _, text in lenses) >= 2
    )
    assert "not traced yet" in [text for _, text in await client.lenses(buffer)]
    hover = await client.hover(buffer, "Net(nn.Module)")
    assert hover["contents"]["value"] == "Net · tracing…"
    await client.until(lambda: client.hints(buffer), bool)


async def test_an_editor_that_cannot_resolve_gets_the_tooltip_at_once(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    (*_, hint) = await client.ask("textDocument/inlayHint", buffer, range=everything())
    assert hint["tooltip"]["kind"] == "plaintext"
    assert (hint["paddingLeft"], hint["kind"]) == (True, 1)


async def test_nothing_flickers_while_the_text_does_not_parse(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    hints = await client.until(lambda: client.hints(buffer), bool)
    lenses = await client.lenses(buffer)
    client.replace(buffer, "return y.relu()", "return y.relu()\n        z = (")
    assert await client.hints(buffer) == hints
    assert await client.lenses(buffer) == lenses
    hover = await client.hover(buffer, "self.fc(x)")
    assert "(stale)" in hover["contents"]["value"].split("\n")[0]


async def test_an_edit_of_a_comment_traces_nothing_and_leaves_nothing_stale(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    await client.rest()
    refreshes = client.count("workspace/inlayHint/refresh")
    client.replace(buffer, "import torch\n", "import torch  # the library\n")
    hover = await client.hover(buffer, "self.fc(x)")
    assert "(stale)" not in hover["contents"]["value"]
    assert client.count("workspace/inlayHint/refresh") == refreshes


async def test_settings_of_the_editor_count(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(configuration=True), settings={"hints": False, "python": None})
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.lenses(buffer), lambda lenses: "traceable" in lenses[0][1])
    assert await client.hints(buffer) == {}
    client.settings = {"hints": True}
    client.connection.notify("workspace/didChangeConfiguration", {"settings": None})
    assert await client.until(lambda: client.hints(buffer), bool)


async def test_a_missing_interpreter_is_reported_once_and_in_the_lens(start: Start, tmp_path: Path) -> None:
    client = await start(options={"python": str(tmp_path / "nowhere")})
    buffer = client.open(tmp_path / "net.py", NET)
    lenses = await client.until(lambda: client.lenses(buffer), bool)
    assert lenses[0][1].startswith("not traced: The setting 'python' names the interpreter")
    client.replace(buffer, "Linear(3", "Linear(5")
    await client.lenses(buffer)
    assert client.count("window/showMessage") == 1
    assert await client.problems(buffer) is None


async def test_the_first_lines_of_the_log_name_profile_interpreter_and_torch(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    log = [params["message"] for method, params in client.heard if method == "window/logMessage"]
    assert log[0].startswith("fxlsp ")
    assert log[1].startswith("profile in ")
    assert log[1].endswith(f"{tmp_path.name}: shapes (no file uses torch.fx)")
    assert "torch 2." in log[2]


async def test_what_concerns_torch_fx_alone_is_a_hint_until_something_uses_it(start: Start, tmp_path: Path) -> None:
    client = await start()
    text = NET.replace("return y", "if y.sum() > 0:\n            return y\n        return y")
    buffer = client.open(tmp_path / "net.py", text)

    async def severities() -> list[int] | None:
        problems = await client.problems(buffer)
        return None if problems is None else [each["severity"] for each in problems if each["code"] == "FX101"]

    hint, warning = 4, 2
    await client.until(severities, lambda told: told == [hint])
    client.replace(buffer, "import torch\n", "import torch.fx\n")
    await client.until(severities, lambda told: told == [warning])
    client.replace(buffer, "y.sum() > 0:", "y.sum() > 0:  # fxlsp: ignore[FX101]")
    await client.until(severities, lambda told: told == [])


@pytest.mark.real
async def test_starting_torch_is_shown_as_progress_that_ends(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(progress=True))
    client.open(tmp_path / "net.py", NET)

    async def kinds() -> list[str]:
        return [params["value"]["kind"] for method, params in client.heard if method == "$/progress"]

    shown = await client.until(kinds, lambda kinds: "end" in kinds)
    assert shown[0] == "begin"


async def test_work_that_is_shown_as_progress_can_be_cancelled_until_the_next_edit(
    start: Start, tmp_path: Path
) -> None:
    client = await start(Abilities(progress=True), options={"limits": {"seconds": 60}})
    buffer = client.open(tmp_path / "net.py", NET.replace("y = self.fc(x)", "while True: pass"))

    async def shown() -> list[tuple[str, str]]:
        said = client.said("$/progress")
        return [(each["value"]["kind"], each["value"].get("message") or "") for each in said]

    await client.until(shown, lambda shown: any("tracing Net" in message for _, message in shown))
    assert client.said("$/progress")[0]["value"]["cancellable"] is True
    client.connection.notify("window/workDoneProgress/cancel", {"token": client.said("$/progress")[0]["token"]})
    await client.until(shown, lambda shown: shown[-1][0] == "end")
    (model,) = (await client.rest())["models"]
    assert model["status"] == "unknown"
    client.replace(buffer, "while True: pass", "y = self.fc(x)")
    assert await client.until(lambda: client.hints(buffer), bool)


async def test_restart_ends_the_processes_and_traces_again(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    await command(client, "fxlsp.restart")
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 6)")
    await client.until(lambda: client.hints(buffer), lambda hints: hints["y = self.fc(x)"] == "(2, 6)")


async def test_debug_information_has_interpreter_torch_and_each_model(start: Start, tmp_path: Path) -> None:
    client = await start()
    broken = NET.replace("Net", "Broken").replace("Linear(3, 4)", "Linear(three, 4)")
    buffer = client.open(tmp_path / "net.py", f"{NET}\n\n{broken}")
    facts = await client.rest()
    (folder,) = facts["folders"]
    assert folder["torch"] in facts["text"]
    assert (folder["origin"], folder["failure"], folder["profile"]) == ("setting", None, "shapes")
    models = {model["name"]: model for model in facts["models"]}
    assert (models["Net"]["status"], models["Net"]["versions"]) == ("fresh", {buffer.path: 1})
    assert models["Broken"]["status"] == "failed"
    assert "name 'three' is not defined" in models["Broken"]["failure"]
    assert "Net is fresh" in facts["text"]


async def test_retrace_sees_what_is_no_text_of_the_workspace(start: Start, tmp_path: Path) -> None:
    client = await start()
    data = tmp_path / "width.txt"
    data.write_text("4", encoding="utf-8")
    text = NET.replace("Linear(3, 4)", f"Linear(3, int(open({str(data)!r}).read()))")
    buffer = client.open(tmp_path / "net.py", text)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("y = self.fc(x)") == "(2, 4)")
    data.write_text("7", encoding="utf-8")
    await command(client, "fxlsp.retrace", buffer.uri)
    await client.until(lambda: client.hints(buffer), lambda hints: hints["y = self.fc(x)"] == "(2, 7)")


async def command(client: Client, name: str, *arguments: Json) -> Json:
    params = {"command": name, "arguments": list(arguments)}
    return await client.connection.request("workspace/executeCommand", params)
