"""Which recipe a model follows: shown, chosen among several, and written down, with the real torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client

NET = """\
import torch
from torch import nn


def known(model):
    return model


@known
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(8, width)

    def forward(self, x):
        return self.linear(x)
"""
TRAIN = """\
import torch
from models import Net


def main():
    net = Net(16)
    net(torch.randn(4, 8))


def large():
    net = Net(32)
    net(torch.randn(2, 8))
"""
CONFIGURED = """\
import torch
from models import Net


class Config:
    width = 24


def main():
    Net(Config.width)(torch.randn(3, 8))
"""
LINE = "return self.linear(x)"


async def shapes(client: Client, buffer: Buffer, expected: str) -> None:
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == expected)


async def recipe_lens(client: Client, buffer: Buffer, words: str) -> str:
    def shown(lenses: list[tuple[str, str]]) -> list[str]:
        return [text for _, text in lenses if text.startswith("recipe: ") and words in text]

    return shown(await client.until(lambda: client.lenses(buffer), shown))[0]


async def start_both(start: Start, folder: Path, train: str = TRAIN) -> tuple[Client, Buffer, Buffer]:
    (folder / "models.py").write_text(NET)
    (folder / "train.py").write_text(train)
    client = await start()
    return client, client.open(folder / "models.py"), client.open(folder / "train.py")


async def id_of(client: Client, buffer: Buffer, text: str) -> str:
    listed = await client.command("fxlsp.recipes", buffer.uri, "Net")
    return next(str(each["id"]) for each in listed if each["text"] == text)


async def test_the_lens_names_the_recipe_in_use_its_place_and_how_many_there_are(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    await shapes(client, models, "(4, 16)")
    text = await recipe_lens(client, models, "1 of 2")
    assert text == "recipe: Net(16)(torch.randn(4, 8)) · call site train.py:7 · 1 of 2"
    hover = await client.hover(models, "Net(nn.Module)")
    assert "from a call site in train.py:7" in hover["contents"]["value"]


async def test_choosing_another_call_site_changes_hints_hover_and_lens(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    await shapes(client, models, "(4, 16)")
    listed = await client.command("fxlsp.recipes", models.uri, "Net")
    assert [(each["text"], each["origin"], each["inUse"], each["pinned"]) for each in listed] == [
        ("Net(16)(torch.randn(4, 8))", "call site train.py:7", True, False),
        ("Net(32)(torch.randn(2, 8))", "call site train.py:12", False, False),
    ]
    assert listed[1]["location"] == {"uri": (tmp_path / "train.py").as_uri(), "line": 11}
    refreshes = client.count("workspace/codeLens/refresh")
    await client.command("fxlsp.chooseRecipe", models.uri, "Net", listed[1]["id"])
    await shapes(client, models, "(2, 32)")
    text = await recipe_lens(client, models, "chosen")
    assert text == "recipe: Net(32)(torch.randn(2, 8)) · call site train.py:12 · 2 of 2 · chosen"
    assert client.count("workspace/codeLens/refresh") > refreshes
    hover = await client.hover(models, "self.linear(x)")
    assert "Net(32)(torch.randn(2, 8))" in hover["contents"]["value"]
    await client.command("fxlsp.chooseRecipe", models.uri, "Net", "automatic")
    await shapes(client, models, "(4, 16)")


async def test_without_a_recipe_the_user_is_asked_by_a_message(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    await recipe_lens(client, models, "1 of 2")
    lenses = await client.ask("textDocument/codeLens", models)
    click = next(lens["command"] for lens in lenses if lens["command"]["title"].startswith("recipe: "))
    client.picks = ["2: "]
    await client.command(click["command"], *click["arguments"])
    await shapes(client, models, "(2, 32)")
    client.picks = ["Net (", "The first that works"]
    await client.command("fxlsp.chooseRecipe")
    await shapes(client, models, "(4, 16)")
    asked = client.said("window/showMessageRequest")
    assert [[item["title"] for item in each["actions"]] for each in asked] == [
        [
            "1: Net(16)(torch.randn(4, 8)) (call site train.py:7)",
            "2: Net(32)(torch.randn(2, 8)) (call site train.py:12)",
            "Write it as a comment",
        ],
        [f"Net ({tmp_path / 'models.py'})"],
        [
            "1: Net(16)(torch.randn(4, 8)) (call site train.py:7)",
            "2: Net(32)(torch.randn(2, 8)) (call site train.py:12)",
            "The first that works",
            "Write it as a comment",
        ],
    ]


async def test_a_message_that_is_closed_changes_nothing(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    text = await recipe_lens(client, models, "1 of 2")
    await client.command("fxlsp.chooseRecipe", models.uri, "Net")
    await client.command("fxlsp.chooseRecipe", models.uri, "Net", "no such id")
    assert await recipe_lens(client, models, "1 of 2") == text
    assert [each["message"] for each in client.said("window/showMessage")] == [
        "That recipe of Net is not there any more."
    ]


async def test_a_chosen_call_site_is_followed_while_it_is_edited_and_left_once_it_is_gone(
    start: Start, tmp_path: Path
) -> None:
    client, models, train = await start_both(start, tmp_path)
    await recipe_lens(client, models, "1 of 2")
    await client.command(
        "fxlsp.chooseRecipe", models.uri, "Net", await id_of(client, models, "Net(32)(torch.randn(2, 8))")
    )
    await shapes(client, models, "(2, 32)")
    client.replace(train, "Net(32)", "Net(48)")
    await shapes(client, models, "(2, 48)")
    client.replace(train, "    net(torch.randn(2, 8))\n", "    pass\n")
    client.replace(train, "    net = Net(48)\n", "    pass\n")
    await shapes(client, models, "(4, 16)")
    assert "chosen" not in await recipe_lens(client, models, "Net(16)")


async def test_the_choice_outlives_the_document(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    await recipe_lens(client, models, "1 of 2")
    await client.command(
        "fxlsp.chooseRecipe", models.uri, "Net", await id_of(client, models, "Net(32)(torch.randn(2, 8))")
    )
    await shapes(client, models, "(2, 32)")
    client.close(models)
    await shapes(client, client.open(tmp_path / "models.py"), "(2, 32)")


async def test_a_chosen_recipe_that_fails_is_reported_and_no_other_takes_its_place(
    start: Start, tmp_path: Path
) -> None:
    client, models, _ = await start_both(start, tmp_path, CONFIGURED.replace("main", "a") + TRAIN[TRAIN.index("def") :])
    await recipe_lens(client, models, "of 3")
    listed = await client.command("fxlsp.recipes", models.uri, "Net")
    chosen = next(each for each in listed if "Config" in each["text"])
    client.replace(models, "super().__init__()", "super().__init__(); assert width != 24, 'too odd'")
    await client.command("fxlsp.chooseRecipe", models.uri, "Net", chosen["id"])
    client.connection.notify("textDocument/didSave", {"textDocument": {"uri": models.uri}})
    (problem,) = await client.until(lambda: client.problems(models), bool) or []
    assert "too odd" in problem["message"]
    assert "Config.width" in await recipe_lens(client, models, "chosen")


PARTS = """\
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(8, width)

    def forward(self, x):
        return self.linear(x)


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(3)

    def forward(self, x):
        return self.part(x)


def check():
    Whole()(torch.randn(5, 8))
    Part(7)(torch.randn(6, 8))
"""


async def test_a_part_of_another_model_is_traced_by_itself_once_a_recipe_is_chosen(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    parts = client.open(tmp_path / "parts.py", PARTS)
    await shapes(client, parts, "(5, 3)")
    assert await recipe_lens(client, parts, "uses it") == "recipe: as Whole uses it · 2 others"
    client.picks = ["1: "]
    await client.command("fxlsp.chooseRecipe", parts.uri, "Part")
    # The other use is still told, after the one that was chosen.
    await shapes(client, parts, "(6, 7) …")
    await client.command("fxlsp.chooseRecipe", parts.uri, "Part", "automatic")
    await shapes(client, parts, "(5, 3)")


@pytest.mark.parametrize("versioned", [True, False])
async def test_writing_the_recipe_puts_a_comment_above_the_decorators(
    start: Start, tmp_path: Path, versioned: bool
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    client = await start(Abilities(versioned_edits=versioned))
    models = client.open(tmp_path / "models.py", NET)
    await recipe_lens(client, models, "1 of 2")
    await client.command("fxlsp.writeRecipe", models.uri, "Net")
    assert models.text == NET.replace("@known", "# fxlsp: Net(16)(torch.randn(4, 8))\n@known")
    text = await recipe_lens(client, models, "comment")
    assert text == "recipe: Net(16)(torch.randn(4, 8)) · comment models.py:9 · 1 of 3"
    await client.command("fxlsp.writeRecipe", models.uri, "Net")
    assert models.text.count("fxlsp:") == 1
    assert "says so already" in client.said("window/showMessage")[-1]["message"]


async def test_writing_another_recipe_replaces_the_comment_and_counts_instead_of_the_choice(
    start: Start, tmp_path: Path
) -> None:
    client, models, _ = await start_both(start, tmp_path)
    client.replace(models, "@known", "# fxlsp: Net(5)(torch.randn(1, 8))\n@known")
    await shapes(client, models, "(1, 5)")
    chosen = await id_of(client, models, "Net(32)(torch.randn(2, 8))")
    await client.command("fxlsp.chooseRecipe", models.uri, "Net", chosen)
    await shapes(client, models, "(2, 32)")
    client.picks = ["Write"]
    await client.command("fxlsp.chooseRecipe", models.uri, "Net")
    await recipe_lens(client, models, "comment models.py:9 · 1 of 3")
    assert models.text == NET.replace("@known", "# fxlsp: Net(32)(torch.randn(2, 8))\n@known")
    client.replace(models, "Net(32)", "Net(6)")
    await shapes(client, models, "(2, 6)")


async def test_a_recipe_in_the_words_of_another_file_is_written_so_that_it_works(start: Start, tmp_path: Path) -> None:
    client, models, train = await start_both(start, tmp_path, CONFIGURED)
    await shapes(client, models, "(3, 24)")
    await client.command("fxlsp.writeRecipe", models.uri, "Net")
    written = "# fxlsp: Net(__import__('train', fromlist=['Config']).Config.width)(torch.randn(3, 8))\n"
    assert models.text == NET.replace("@known", written + "@known")
    client.replace(train, "width = 24", "width = 40")
    await recipe_lens(client, models, "comment models.py:9")
    await shapes(client, models, "(3, 40)")


async def test_a_recipe_that_cannot_be_written_is_reported_and_nothing_is_written(start: Start, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(NET)
    (tmp_path / "my-train.py").write_text(CONFIGURED)
    client = await start()
    models = client.open(tmp_path / "models.py")
    await shapes(client, models, "(3, 24)")
    await client.command("fxlsp.writeRecipe", models.uri, "Net")
    assert models.text == NET
    (message,) = client.said("window/showMessage")
    assert "uses names of" in message["message"]
    assert "my-train.py" in message["message"]


async def test_an_editor_that_refuses_the_edit_gets_an_error(start: Start, tmp_path: Path) -> None:
    client, models, _ = await start_both(start, tmp_path)
    await recipe_lens(client, models, "1 of 2")
    client.takes_edits = False
    await client.command("fxlsp.writeRecipe", models.uri, "Net")
    assert models.text == NET

    async def messages() -> list[Json]:
        return [each["message"] for each in client.said("window/showMessage")]

    assert await client.until(messages, bool) == ["The editor did not take the comment."]
