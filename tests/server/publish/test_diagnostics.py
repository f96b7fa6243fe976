"""Problems as the editor gets them: pushed or pulled, with versions, one for what ends a trace."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dev.rpc import Json
from fxlsp.report.codes import page_url
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client
from tests.support.waiting import PATIENCE

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
        return y
"""


def pulled(client: Client, buffer: Buffer) -> Json:
    return client.ask("textDocument/diagnostic", buffer)


async def test_control_flow_is_underlined_with_torchs_own_words(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("return y", "return y if y.sum() > 0 else x"))
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem["code"] == "FX101"
    assert problem["source"] == "fxlsp"
    assert "symbolically traced variables cannot be used as inputs to control flow" in problem["message"]
    assert "y.sum() > 0" in client.covered(buffer, problem["range"])


@pytest.mark.parametrize("supported", [True, False])
async def test_a_code_links_to_its_page_where_the_editor_shows_links(
    start: Start, tmp_path: Path, supported: bool
) -> None:
    client = await start(Abilities(code_pages=supported))
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem.get("codeDescription") == ({"href": page_url("FX401")} if supported else None)


@pytest.mark.parametrize("supported", [True, False])
async def test_what_is_never_used_is_tagged_as_unnecessary_where_editors_fade_that(
    start: Start, tmp_path: Path, supported: bool
) -> None:
    client = await start(Abilities(tags=supported))
    unused = "self.fc = nn.Linear(3, 4)\n        self.other = nn.Linear(3, 4)"
    text = NET.replace("self.fc = nn.Linear(3, 4)", unused).replace("return y", "return y if y.sum() > 0 else x")
    buffer = client.open(tmp_path / "net.py", text)
    problems = await client.until(lambda: client.problems(buffer), bool) or []
    unnecessary = 1
    expected = {"FX501": [unnecessary] if supported else None, "FX101": None}
    assert {problem["code"]: problem.get("tags") for problem in problems} == expected


async def test_sizes_that_fit_with_no_input_are_reported_where_nothing_says_what_the_model_is_fed(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    text = NET.replace("# fxlsp: Net()(torch.randn(2, 3))\n", "").replace("return y", "return y @ torch.ones(5, 2)")
    buffer = client.open(tmp_path / "net.py", text)
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert (problem["code"], problem["severity"]) == ("FX401", 1)
    assert client.covered(buffer, problem["range"]) == "y @ torch.ones(5, 2)"


async def test_an_edit_that_breaks_a_model_of_which_the_inputs_were_guessed_is_reported_until_it_is_mended(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    text = NET.replace("# fxlsp: Net()(torch.randn(2, 3))\n", "").replace(
        "self.fc(x)", "self.fc(self.conv(x).flatten(1))"
    )
    layers = "self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(400, 4)"
    buffer = client.open(tmp_path / "net.py", text.replace("self.fc = nn.Linear(3, 4)", layers))
    await client.rest()
    assert not await client.problems(buffer)
    client.replace(buffer, "400", "425")
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem["code"] == "FX401"
    client.replace(buffer, "425", "400")
    await client.until(lambda: client.problems(buffer), lambda problems: not problems)


async def test_problems_keep_their_place_and_get_the_version_of_each_edit(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    await client.until(lambda: client.problems(buffer), bool)
    client.replace(buffer, "import torch\n", "# a comment\nimport torch\n")
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert client.covered(buffer, problem["range"]) == "self.fc(x)"
    assert buffer.problems_version == 2


async def test_problems_stay_when_lines_are_added_above_them_while_another_document_is_typed(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    typed = client.open(tmp_path / "typed.py", "width = 3\n")
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    (found,) = await client.until(lambda: client.problems(buffer), bool) or []
    await client.rest()
    for begun, key in enumerate("0123"):
        client.replace(typed, "width = 3", f"width = 3{key}")
        client.replace(buffer, "from torch import nn", f"width{key} = 2\nfrom torch import nn")
        moved = await client.until(lambda: client.problems(buffer), lambda problems: problems is not None)
        line = found["range"]["start"]["line"] + begun + 1
        assert [each["range"]["start"]["line"] for each in moved or []] == [line]
    said = client.said("textDocument/publishDiagnostics")
    assert all(each["diagnostics"] for each in said if each["uri"] == buffer.uri)


async def test_closing_a_document_takes_its_problems_away(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    await client.until(lambda: client.problems(buffer), bool)
    client.close(buffer)

    async def problems() -> list[Json] | None:
        return buffer.problems

    await client.until(problems, lambda found: found == [])


async def test_an_editor_that_pulls_is_asked_to_and_never_pushed_to(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(pulls=True))
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    report = await client.until(lambda: pulled(client, buffer), lambda report: report["items"])
    assert [item["code"] for item in report["items"]] == ["FX401"]
    again = await client.ask("textDocument/diagnostic", buffer, previousResultId=report["resultId"])
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}
    client.replace(buffer, "Linear(5", "Linear(3")
    await client.until(lambda: pulled(client, buffer), lambda report: report["items"] == [])
    assert client.count("textDocument/publishDiagnostics") == 0
    assert client.count("workspace/diagnostic/refresh") >= 2


async def test_a_problem_that_is_ignored_and_not_at_once_comes_back_in_an_editor_that_pulls(
    start: Start, tmp_path: Path
) -> None:
    client = await start(Abilities(pulls=True))
    buffer = client.open(tmp_path / "net.py", NET.replace("Linear(3", "Linear(5"))
    await client.until(lambda: pulled(client, buffer), lambda report: report["items"])
    offset = buffer.text.index("self.fc(x)") + len("self.fc(x)")
    comment = "  # fxlsp: ignore[FX401]"
    client.type(buffer, offset, offset, comment)
    assert (await pulled(client, buffer))["items"] == []
    client.type(buffer, offset, offset + len(comment), "")
    # It is held for a while, as if it were typed; no edit makes the editor pull again after that.
    await client.until(lambda: pulled(client, buffer), lambda report: report["items"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("while True: pass", "did not finish within 5 s"),
        ("__import__('os')._exit(3)", "exit code 3"),
        ("__import__('ctypes').string_at(0)", "SIGSEGV"),
        ("raise ValueError('no such thing')", "no such thing"),
    ],
)
async def test_what_ends_a_trace_is_one_problem_on_its_line_and_the_next_edit_traces_again(
    start: Start, tmp_path: Path, line: str, words: str
) -> None:
    client = await start(options={"limits": {"seconds": 5}} if "did not finish" in words else {})
    buffer = client.open(tmp_path / "net.py", NET.replace("y = self.fc(x)", line + "\n        y = self.fc(x)"))
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert words in problem["message"]
    assert client.covered(buffer, problem["range"]).strip() in line
    client.replace(buffer, line, "pass")
    await client.until(lambda: client.problems(buffer), lambda problems: problems == [])
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get("y = self.fc(x)") == "(2, 4)")


async def test_a_failure_waits_for_rest_while_the_user_types_and_not_when_he_saves(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    client.replace(buffer, "super().__init__()", "super().__init__(); undefined")
    await traced_while_typing(client, buffer, "undefined", "last trace failed")
    assert buffer.problems is None
    client.connection.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert "name 'undefined' is not defined" in problem["message"]
    assert client.covered(buffer, problem["range"]) == "undefined"


def type_keys(client: Client, buffer: Buffer, after: str, text: str) -> None:
    """Type a text behind another one, key by key."""
    offset = buffer.text.index(after) + len(after)
    for key in text:
        client.type(buffer, offset, offset, key)
        offset += 1


async def traced_while_typing(client: Client, buffer: Buffer, after: str, words: str = "problem") -> None:
    """Wait until half-typed text was traced and the lens says so, while its user goes on to type in the line."""
    deadline = time.monotonic() + PATIENCE
    while words not in (lens := (await client.lenses(buffer))[0][1]):
        assert time.monotonic() < deadline, f"not traced in {PATIENCE:.0f} s while it was typed: {lens}"
        offset = buffer.text.index(after) + len(after)
        client.type(buffer, offset, offset, " ")
        client.type(buffer, offset, offset + 1, "")


def saved(client: Client, buffer: Buffer) -> None:
    client.connection.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})


@pytest.mark.parametrize("pulls", [False, True])
async def test_a_line_shows_no_problem_of_half_its_text_and_its_mistake_when_it_is_left(
    start: Start, tmp_path: Path, pulls: bool
) -> None:
    client = await start(Abilities(pulls=pulls))
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    type_keys(client, buffer, "y = self.fc(x)", "\n        y = self.fcc(y)")
    await traced_while_typing(client, buffer, "self.fcc(y)")
    assert not ((await pulled(client, buffer))["items"] if pulls else buffer.problems)
    type_keys(client, buffer, "self.fcc(y)", "\n")

    async def problems() -> list[Json]:
        return list((await pulled(client, buffer))["items"]) if pulls else await client.problems(buffer) or []

    (problem,) = await client.until(problems, bool)
    assert "no attribute 'fcc'" in problem["message"]
    client.replace(buffer, "self.fcc(y)", "y.relu()")
    await client.until(problems, lambda found: not found)


async def test_a_problem_elsewhere_is_shown_when_the_user_saves(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    type_keys(client, buffer, "nn.Linear(3", "0")
    await traced_while_typing(client, buffer, "nn.Linear(30, 4)")
    assert not buffer.problems
    saved(client, buffer)
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert client.covered(buffer, problem["range"]) == "self.fc(x)"


async def test_a_problem_is_shown_after_a_pause_though_the_line_is_not_left(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    type_keys(client, buffer, "self.fc(x", ", x")
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem["code"] == "FX403"


async def test_an_open_bracket_is_no_problem_while_its_lines_are_typed(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    type_keys(client, buffer, "y = self.fc(x)", "\n        y = torch.cat(")
    type_keys(client, buffer, "torch.cat(", "\n            [y, y]")
    assert not buffer.problems
    type_keys(client, buffer, "[y, y]", "\n        )")
    await client.rest()
    assert client.count("textDocument/publishDiagnostics") == 0


async def test_lines_below_half_typed_text_keep_their_hints(start: Start, tmp_path: Path) -> None:
    client = await start()
    text = NET.replace("return y", "y = y.relu()\n        return y")
    buffer = client.open(tmp_path / "net.py", text)
    before = await client.until(lambda: client.hints(buffer), bool)
    type_keys(client, buffer, "y = self.fc", "c")
    await traced_while_typing(client, buffer, "self.fcc(x)")
    assert (await client.hints(buffer))["y = y.relu()"] == before["y = y.relu()"]
    saved(client, buffer)
    await client.until(lambda: client.hints(buffer), lambda hints: "y = y.relu()" not in hints)
