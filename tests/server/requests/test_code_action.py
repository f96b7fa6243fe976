"""Quick fixes as the editor gets them: with the problem that they are for, and edits of the version that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = [nn.Linear(3, 3), nn.Linear(3, 4)]  # 𝔽ully connected

    def forward(self, x):
        name = "𝔽"; x = self.fcs[0](x)
        return x.relu()
"""

WRAP = "Register the modules of fcs with nn.ModuleList"
IGNORE = "Ignore FX201 here"


def edits(action: Json) -> list[Json]:
    (change,) = action["edit"]["documentChanges"]
    return list(change["edits"])


async def with_problem(client: Client, folder: Path, text: str = NET) -> Buffer:
    buffer = client.open(folder / "net.py", text)
    await client.until(lambda: client.problems(buffer), bool)
    return buffer


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_a_fix_makes_the_problem_go_away(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding=encoding))
    buffer = await with_problem(client, tmp_path)
    actions = await client.actions(buffer, "self.fcs[0](x)")
    assert [(action["title"], action.get("isPreferred")) for action in actions] == [(WRAP, True), (IGNORE, None)]
    assert {action["kind"] for action in actions} == {"quickfix"}
    assert actions[0]["diagnostics"] == [each for each in buffer.problems or [] if each["code"] == "FX201"]
    client.apply(buffer, edits(actions[0]))
    assert buffer.text == NET.replace(
        "[nn.Linear(3, 3), nn.Linear(3, 4)]", "nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 4)])"
    )
    codes = await client.until(
        lambda: client.problems(buffer), lambda found: found is not None and "FX201" not in str(found)
    )
    assert codes is not None


async def test_edits_are_for_the_version_that_the_editor_has(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = await with_problem(client, tmp_path)
    client.replace(buffer, "# fxlsp", "# First.\n# fxlsp")
    (action, _) = await client.actions(buffer, "self.fcs[0](x)")
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": buffer.uri, "version": buffer.version}
    assert "changes" not in action["edit"]
    client.apply(buffer, change["edits"])
    assert "# First." in buffer.text
    assert "nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 4)])  # 𝔽" in buffer.text


async def test_an_editor_without_versioned_edits_gets_plain_ones(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(versioned_edits=False))
    buffer = await with_problem(client, tmp_path)
    (_, action) = await client.actions(buffer, "self.fcs[0](x)")
    assert "documentChanges" not in action["edit"]
    client.apply(buffer, action["edit"]["changes"][buffer.uri])
    assert "x = self.fcs[0](x)  # fxlsp: ignore[FX201]\n" in buffer.text


async def test_only_what_was_asked_for_is_offered(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = await with_problem(client, tmp_path)
    assert await client.actions(buffer, "self.fcs[0](x)", ["refactor.extract", "source.fixAll"]) == []
    assert len(await client.actions(buffer, "self.fcs[0](x)", ["source", "quickfix"])) == 2
    assert await client.actions(buffer, "return x.relu()") == []
    assert await client.actions(buffer, "import torch") == []


async def test_problems_that_the_editor_names_are_fixed_wherever_the_cursor_is(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = await with_problem(client, tmp_path)
    assert await client.actions(buffer, 'name = "') == []
    named = await client.actions(buffer, 'name = "', problems=buffer.problems)
    assert sorted(action["title"] for action in named) == ["Ignore FX201 here", "Ignore FX601 here", WRAP]
    (wrap,) = [action for action in named if action["title"] == WRAP]
    assert {each["code"] for each in wrap["diagnostics"]} == {"FX201", "FX601"}
    foreign = [{"range": (buffer.problems or [])[0]["range"], "message": "of another server"}]
    assert await client.actions(buffer, 'name = "', problems=foreign) == []


async def test_an_editor_that_takes_commands_only_gets_none(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(fixes=False))
    buffer = await with_problem(client, tmp_path)
    assert await client.actions(buffer, "self.fcs[0](x)") == []


async def test_text_that_does_not_parse_offers_no_edit_of_code(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = await with_problem(client, tmp_path)
    client.replace(buffer, "return x.relu()", "return x.relu(")
    titles = [action["title"] for action in await client.actions(buffer, "self.fcs[0](x)")]
    assert titles == [IGNORE]


async def test_shapes_as_a_comment_are_offered_to_who_asks_and_not_to_a_light_bulb(
    start: Start, tmp_path: Path
) -> None:
    client = await start(Abilities(encoding="utf-8"))
    buffer = await with_problem(client, tmp_path)
    offset = buffer.text.index("x.relu()")
    start_, end = (client.position(buffer, each) for each in (offset, offset + 3))

    async def titles(to: Json = start_, **context: Json) -> list[str]:
        params = {"range": {"start": start_, "end": to}, "context": {"diagnostics": [], **context}}
        return [each["title"] for each in await client.ask("textDocument/codeAction", buffer, **params)]

    comment = "Write the shapes as a comment"
    assert await titles() == await titles(triggerKind=2) == await titles(only=["quickfix"], triggerKind=1) == []
    assert await titles(triggerKind=1) == await titles(end) == [comment]
    for kind in ("refactor", "refactor.rewrite", ""):
        assert await titles(only=[kind]) == [comment]
    problem = {"range": {"start": start_, "end": end}, "message": "of another server"}
    assert await titles(end, diagnostics=[problem]) == []
    assert await titles(end, only=["refactor.extract"]) == await titles(end, only=["refactor.re"]) == []
    (action,) = await client.actions(buffer, "x.relu()", only=["refactor"])
    assert action["kind"] == "refactor.rewrite"
    client.apply(buffer, edits(action))
    assert "        # (2, 3)  x\n        return x.relu()" in buffer.text


SIZES = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3, 8, 8))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.fc = nn.Linear(6 * 5 * 5, 10)  # 𝔽ully connected

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_the_number_that_fits_ends_the_failure(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding=encoding))
    buffer = await with_problem(client, tmp_path, SIZES)
    assert {each["code"] for each in buffer.problems or []} == {"FX401"}
    client.replace(buffer, "# fxlsp", "# First.\n# fxlsp")
    (fix, ignore) = await client.actions(buffer, "self.fc(self.conv(x)")
    assert (fix["title"], fix.get("isPreferred")) == ("Make self.fc take 216 features", None)
    assert ignore["title"] == "Ignore FX401 here"
    client.apply(buffer, edits(fix))
    assert "self.fc = nn.Linear(216, 10)  # 𝔽ully connected" in buffer.text
    await client.until(lambda: client.problems(buffer), lambda found: found == [])


async def test_no_number_is_offered_that_another_model_of_the_file_needs(start: Start, tmp_path: Path) -> None:
    text = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x)


# fxlsp: Narrow()(torch.randn(2, 6))
class Narrow(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()

    def forward(self, x):
        return self.head(x)
"""
    other = """

# fxlsp: Wide()(torch.randn(2, 8))
class Wide(Narrow):
    pass
"""
    client = await start()
    buffer = await with_problem(client, tmp_path, text)

    async def titles() -> list[str]:
        return [each["title"] for each in await client.actions(buffer, "self.fc(x)")]

    assert await client.until(titles, lambda found: "Make self.fc take 6 features" in found)
    client.type(buffer, len(text), len(text), other)
    assert await client.until(titles, lambda found: "Make self.fc take 6 features" not in found)
