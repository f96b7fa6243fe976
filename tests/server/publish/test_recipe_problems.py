"""A recipe that is wrong is a problem where it is written: in a comment, or in ``pyproject.toml``."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client

NET = """\
import torch
from torch import nn


# fxlsp: RECIPE
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        assert width < 100, "too wide"
        self.linear = nn.Linear(8, width)

    def forward(self, x):
        return self.linear(x)
"""
BARE = NET.replace("# fxlsp: RECIPE\n", "")


async def only_problem(client: Client, buffer: Buffer) -> Json:
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    return problem


@pytest.mark.parametrize(
    ("recipe", "code", "words"),
    [
        ("Net(4)(torch.randn(1, 8)", "FX907", "is not one Python expression"),
        ("Nett(4)(torch.randn(1, 8))", "FX903", "name 'Nett' is not defined"),
        ("Net(widht=4)(torch.randn(1, 8))", "FX903", "unexpected keyword argument 'widht'"),
        ("Net()(torch.randn(1, 8))", "FX903", "missing 1 required positional argument: 'width'"),
        ("nn.Linear", "FX903", "nn.Linear makes a type, not a torch.nn.Module"),
        ("Net(4)(torch.randn(1, sides))", "FX904", "name 'sides' is not defined"),
        ("Net(4)(torch.randn(1, 8), mask=None)", "FX904", "unexpected keyword argument 'mask'"),
    ],
)
async def test_a_wrong_comment_is_a_problem_on_its_expression(
    start: Start, tmp_path: Path, recipe: str, code: str, words: str
) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("RECIPE", recipe))
    problem = await only_problem(client, buffer)
    assert (problem["code"], client.covered(buffer, problem["range"])) == (code, recipe)
    assert words in problem["message"]


async def test_what_a_recipe_makes_the_model_raise_is_reported_where_it_raises(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("RECIPE", "Net(100)"))
    problem = await only_problem(client, buffer)
    assert "too wide" in problem["message"]
    assert client.covered(buffer, problem["range"]) == "width < 100"


async def test_a_comment_that_is_mended_is_no_problem_any_more(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET.replace("RECIPE", "Net(widht=4)(torch.randn(1, 8))"))
    await only_problem(client, buffer)
    client.replace(buffer, "widht", "width")
    await client.until(lambda: client.problems(buffer), lambda problems: problems == [])


class Settings:
    """A ``pyproject.toml`` and what the editor shows in it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.path = folder / "pyproject.toml"
        self.write(text)

    def write(self, text: str) -> None:
        self.text = text
        self.path.write_text(text, encoding="utf-8")

    async def problems(self, client: Client) -> list[tuple[str | None, str, str]]:
        """Code, covered text and message of each problem."""
        told = client.published.get(self.path.as_uri(), [])
        buffer = Buffer(self.path.as_uri(), self.text)
        return [(each.get("code"), client.covered(buffer, each["range"]), each["message"]) for each in told]

    async def is_clean(self, client: Client) -> bool:
        return client.published.get(self.path.as_uri(), []) == []

    async def changed(self, client: Client, text: str) -> None:
        self.write(text)
        changes = [{"uri": self.path.as_uri(), "type": 2}]
        client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})


async def test_a_model_that_lacks_arguments_reports_why_a_call_site_does_not_help(start: Start, tmp_path: Path) -> None:
    text = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, parts):
        super().__init__()
        if type(parts).__name__ != "Parts":
            raise TypeError("these are no parts")

    def forward(self, x):
        return x
"""
    (tmp_path / "net.py").write_text(text)
    (tmp_path / "train.py").write_text("from net import Net\nfrom no_such_package import Parts\n\nnet = Net(Parts())\n")
    client = await start()
    buffer = client.open(tmp_path / "net.py")
    lacking = "Net needs the argument parts: "
    hover = await client.until(lambda: client.hover(buffer, "Net("), lambda answer: lacking in str(answer))
    words = "What train.py makes it with does not help: cannot load train.py: ModuleNotFoundError: No module named "
    assert words + "'no_such_package'" in hover["contents"]["value"]


@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize(
    ("text", "code", "covered", "words"),
    [
        ('[tool.fxlsp]\nhint = "ä"', None, "hint", "there is no setting 'hint'"),
        ("[tool.fxlsp]\nhints = 3 # ä", None, "3", "'hints' must be true, false or a table"),
        ('[tool.fxlsp]\nignore = ["FX1", "E1"]', None, '["FX1", "E1"]', "'E1' is no problem code"),
        ('[tool.fxlsp.recipes]\nNet = "Net(4"', "FX907", "Net(4", "is not one Python expression"),
        (
            '[tool.fxlsp.recipes]\n"net.py:Nett" = "Net(4)"',
            "FX907",
            '"net.py:Nett"',
            "defines no Nett; did you mean Net?",
        ),
        ('[tool.fxlsp.recipes]\n"nets.py:Net" = "Net(4)"', "FX907", '"nets.py:Net"', "there is no file nets.py"),
        ('[tool.fxlsp.recipes]\nOther = "Net(4)"', "FX907", "Other", "no file of the workspace defines Other"),
    ],
)
async def test_a_wrong_setting_is_a_problem_in_its_own_file(
    start: Start, tmp_path: Path, text: str, code: str | None, covered: str, words: str, pulls: bool
) -> None:
    (tmp_path / "net.py").write_text(BARE)
    settings = Settings(tmp_path, text)
    client = await start(Abilities(pulls=pulls), trusted=False)
    client.open(tmp_path / "net.py")
    (problem,) = await client.until(lambda: settings.problems(client), bool)
    assert problem[:2] == (code, covered)
    assert words in problem[2]


async def test_a_file_that_is_no_toml_is_a_problem_until_it_is(start: Start, tmp_path: Path) -> None:
    settings = Settings(tmp_path, "[tool.fxlsp]\nhints = flase\n")
    client = await start(trusted=False)
    ((_, _, message),) = await client.until(lambda: settings.problems(client), bool)
    assert "is not TOML" in message
    await settings.changed(client, "[tool.fxlsp]\nhints = false\n")
    await client.until(lambda: settings.is_clean(client), bool)


@pytest.mark.parametrize(
    ("recipe", "code", "words"),
    [
        ("Net(widht=4)(torch.randn(1, 8))", "FX903", "unexpected keyword argument 'widht'"),
        ("Net(4)(torch.randn(1, sides))", "FX904", "name 'sides' is not defined"),
    ],
)
async def test_a_configured_recipe_that_does_not_work_is_a_problem_on_its_expression(
    start: Start, tmp_path: Path, recipe: str, code: str, words: str
) -> None:
    settings = Settings(tmp_path, f'[tool.fxlsp.recipes]\n"net.py:Net" = ["{recipe}"]\n')
    (tmp_path / "net.py").write_text(BARE)
    client = await start()
    buffer = client.open(tmp_path / "net.py")
    ((told, covered, message),) = await client.until(lambda: settings.problems(client), bool)
    assert (told, covered) == (code, recipe)
    assert words in message
    assert not await client.problems(buffer)
    await settings.changed(client, settings.text.replace(recipe, "Net(4)(torch.randn(1, 8))"))
    await client.until(lambda: settings.is_clean(client), bool)
    lenses = await client.until(
        lambda: client.lenses(buffer), lambda lenses: any("pyproject.toml:2" in text for _, text in lenses)
    )
    assert lenses[1][1] == "recipe: Net(4)(torch.randn(1, 8)) · pyproject.toml:2"
