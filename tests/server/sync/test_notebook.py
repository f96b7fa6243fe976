"""Notebooks with the real server and the real torch: all cells are one module, and each answers for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding
from tests.support.notebooks import CODE, MARKUP, Notebook

SETUP = """\
%matplotlib inline
!pip install einops
import torch
from torch import nn
width = 8
"""

NET = """\
%%time
# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, width)

    def forward(self, x):
        '''😀'''; y = self.fc(x)
        return y.relu()
"""

BROKEN = "def train(:\n"
FAILING = "import a_package_that_nobody_has\nraise RuntimeError('cell not needed')\n"
SHELL = "%%bash\nfor f in *; do echo $f; done\n"

CALL = "'''😀'''; y = self.fc(x)"
NOTEBOOK = Abilities(notebooks=True)


async def hints_of(client: Client, cell: Buffer, line: str, text: str) -> dict[str, str]:
    return await client.until(lambda: client.hints(cell), lambda hints: hints.get(line) == text)


async def test_notebooks_are_offered_only_to_editors_that_know_them(start: Start) -> None:
    selector = [{"cells": [{"language": "python"}]}]
    capabilities = (await start(NOTEBOOK)).greeting["capabilities"]
    assert capabilities["notebookDocumentSync"] == {"notebookSelector": selector, "save": True}
    assert "notebookDocumentSync" not in (await start()).greeting["capabilities"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_the_cells_of_a_notebook_are_one_module(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding, notebooks=True))
    setup, shell, net = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, SHELL, NET]).cells
    assert (await hints_of(client, net, CALL, "(2, 8)"))["return y.relu()"] == "(2, 8)"
    assert await client.hints(setup) == await client.hints(shell) == {}
    hover = await client.hover(net, "self.fc(x)")
    assert "fc" in hover["contents"]["value"]
    assert client.covered(net, hover["range"]) == "self.fc(x)"
    lenses = await client.lenses(net)
    assert [line for line, _ in lenses][-1] == "def forward(self, x):"
    assert await client.lenses(setup) == []
    symbols = await client.ask("textDocument/documentSymbol", net)
    assert [(each["name"], client.covered(net, each["selectionRange"])) for each in symbols] == [("Net", "Net")]
    assert await client.ask("textDocument/documentSymbol", setup) == []


async def test_problems_are_in_their_cells_with_the_versions_of_these(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET.replace("randn(2, 3)", "randn(2, 4)")])
    setup, net = notebook.cells
    problems = await client.until(lambda: client.problems(net), lambda found: found)
    assert [(each["code"], client.covered(net, each["range"])) for each in problems or ()] == [("FX401", "self.fc(x)")]
    notebook.replace(net, "# fxlsp", "#  fxlsp")
    await client.until(lambda: client.problems(net), lambda found: found)
    assert net.problems_version == 2
    notebook.replace(setup, "width = 8", "width = 9")
    notebook.replace(net, "randn(2, 4)", "randn(2, 3)")
    await client.until(lambda: client.problems(net), lambda found: found == [])
    assert not setup.problems


async def test_a_fix_edits_its_cell_in_the_version_of_the_cell(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    wrong = NET.replace("randn(2, 3)", "randn(2, 4)")
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, wrong])
    _, net = notebook.cells
    notebook.replace(net, "# fxlsp", "#  fxlsp")
    problems = await client.until(lambda: client.problems(net), lambda found: found)
    actions = await client.actions(net, "self.fc(x)", problems=problems)
    assert [action["title"] for action in actions] == ["Make self.fc take 4 features", "Ignore FX401 here"]
    (change,) = actions[-1]["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": net.uri, "version": 2}
    (edit,) = change["edits"]
    assert client.covered(net, edit["range"]) == ""
    assert edit["range"]["start"]["line"] in (7, 8)


async def test_pulled_problems_are_those_of_the_cell(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(pulls=True, notebooks=True))
    setup, net = Notebook(
        client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET.replace("randn(2, 3)", "randn(2, 4)")]
    ).cells

    async def pulled(cell: Buffer) -> list[Json]:
        return list((await client.ask("textDocument/diagnostic", cell))["items"])

    problems = await client.until(lambda: pulled(net), lambda found: found)
    assert [client.covered(net, each["range"]) for each in problems] == ["self.fc(x)"]
    assert await pulled(setup) == []


async def test_an_edit_in_one_cell_traces_the_models_of_another(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET])
    setup, net = notebook.cells
    await hints_of(client, net, CALL, "(2, 8)")
    notebook.replace(setup, "width = 8", "width = 16")
    await hints_of(client, net, CALL, "(2, 16)")


async def test_cells_come_go_and_move(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET])
    _, net = notebook.cells
    await hints_of(client, net, CALL, "(2, 8)")
    other = notebook.insert(1, "width = 32\n")
    await hints_of(client, net, CALL, "(2, 32)")
    notebook.replace(other, "32", "64")
    await hints_of(client, net, CALL, "(2, 64)")
    notebook.delete(1)
    await hints_of(client, net, CALL, "(2, 8)")
    notebook.insert(1, "width = 128\n")
    await hints_of(client, net, CALL, "(2, 128)")
    notebook.turn(1, MARKUP)
    await hints_of(client, net, CALL, "(2, 8)")
    notebook.turn(1, CODE)
    await hints_of(client, net, CALL, "(2, 128)")
    notebook.delete(1)
    # In front of the setup it changes nothing, behind it it does.
    notebook.insert(0, "import torch\nfrom torch import nn\nwidth = 1\n")
    notebook.move_first_behind(1)
    await hints_of(client, net, CALL, "(2, 1)")
    assert await client.hover(net, "self.fc(x)") is not None


async def test_the_last_definition_of_a_name_wins(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    later = NET.replace("width)", "5)").replace("randn(2, 3)", "randn(4, 3)")
    _, first, second = Notebook(
        client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET.replace("# fxlsp", "# "), later]
    ).cells
    await hints_of(client, second, CALL, "(4, 5)")
    assert await client.hints(first) == {}


async def test_cells_that_a_model_does_not_need_may_fail(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    texts = [SETUP, FAILING, NET, "Net().undefined_method()\n", "print(files)\n", "files = !ls\n"]
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), texts)
    await hints_of(client, notebook.cells[2], CALL, "(2, 8)")
    assert all(not cell.problems for cell in notebook.cells)


async def test_a_cell_that_does_not_parse_loses_no_other_and_says_so_in_its_place(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, BROKEN, NET, "x = (\n"])
    setup, broken, net, last = notebook.cells
    await hints_of(client, net, CALL, "(2, 8)")
    problems = await client.until(lambda: client.problems(broken), lambda found: found)
    (problem,) = problems or [None]
    assert problem["range"]["start"] == {"line": 0, "character": 10}
    assert "does not parse" in problem["message"]
    assert await client.until(lambda: client.problems(last), lambda found: found and len(found) == 1)
    notebook.replace(setup, "width = 8", "width = 16")
    await hints_of(client, net, CALL, "(2, 16)")
    notebook.replace(broken, "def train(:", "def train(): pass")
    assert await client.until(lambda: client.problems(broken), lambda found: found is not None) == []


async def test_while_a_cell_is_typed_its_last_shapes_stay_and_others_are_traced(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    other = NET.replace("Net", "Other")
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET, other])
    setup, net, _ = notebook.cells
    await hints_of(client, net, CALL, "(2, 8)")
    notebook.replace(net, "return y.relu()", "return y.relu(")
    assert (await client.hints(net))[CALL] == "(2, 8)"
    notebook.replace(setup, "width = 8", "width = 16")
    await hints_of(client, net, CALL, "(2, 16)")
    await hints_of(client, notebook.cells[2], CALL, "(2, 16)")
    notebook.replace(net, "return y.relu(", "return y.relu()")
    await hints_of(client, net, "return y.relu()", "(2, 16)")


async def test_a_definition_leads_to_a_cell(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    block = NET.replace("Net", "Block").replace("# fxlsp", "# ")
    whole = """\
# fxlsp: Whole()(torch.randn(2, 3))
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)
"""
    _, inner, outer = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, block, whole]).cells
    await hints_of(client, outer, "return self.block(x)", "(2, 8)")
    position = client.position(outer, outer.text.index("block(x)") + 1)
    places = await client.ask("textDocument/definition", outer, position=position)
    assert [(each["targetUri"], client.covered(inner, each["targetSelectionRange"])) for each in places] == [
        (inner.uri, "forward")
    ]
    (item,) = await client.ask("textDocument/prepareCallHierarchy", outer, position=position)
    assert item["uri"] == inner.uri
    (call,) = await client.connection.request("callHierarchy/incomingCalls", {"item": item})
    assert call["from"]["uri"] == outer.uri
    assert [client.covered(outer, each) for each in call["fromRanges"]] == ["self.block(x)"]


async def test_commands_take_the_uri_of_a_cell(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    called = NET.replace("# fxlsp: Net()(torch.randn(2, 3))\n", "")
    _, net, use = Notebook(
        client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, called, "\nnet = Net()\nnet(torch.randn(4, 3))"]
    ).cells
    await hints_of(client, net, CALL, "(4, 8)")
    recipes = await client.command("fxlsp.recipes", net.uri, "Net")
    assert [each["location"] for each in recipes] == [{"uri": use.uri, "line": 2}]
    place = client.position(net, net.text.index("fc(x)"))
    copied = await client.command("fxlsp.copyComment", net.uri, place["line"], place["character"])
    assert copied == {"text": "# (4, 3) → (4, 8)  fc"}
    await client.command("fxlsp.writeRecipe", net.uri, "Net")
    assert "# fxlsp: Net()(torch.randn(4, 3))\nclass Net" in net.text


async def test_a_call_in_an_open_notebook_feeds_a_model_of_a_file(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    header = "import torch\nfrom torch import nn\nwidth = 8\n"
    net = client.open(tmp_path / "net.py", header + NET.replace("%%time\n# fxlsp: Net()(torch.randn(2, 3))\n", ""))
    use = "%%time\nimport torch\nfrom net import Net\nbatch = 7\nnet = Net()\nnet(torch.randn(batch, 3))\n"
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), ["print(1)", use])
    await hints_of(client, net, CALL, "(7, 8)")
    assert any("call site nb.ipynb" in title for _, title in await client.lenses(net))
    notebook.replace(notebook.cells[1], "batch = 7", "batch = 5")
    await hints_of(client, net, CALL, "(5, 8)")
    notebook.close()
    await client.until(lambda: client.lenses(net), lambda found: not any("nb.ipynb" in title for _, title in found))


async def test_a_closed_notebook_leaves_nothing_behind(start: Start, tmp_path: Path) -> None:
    client = await start(NOTEBOOK)
    notebook = Notebook(client, (tmp_path / "nb.ipynb").as_uri(), [SETUP, NET.replace("randn(2, 3)", "randn(2, 4)")])
    _, net = notebook.cells
    await client.until(lambda: client.problems(net), lambda found: found)
    notebook.save()
    notebook.close()
    await client.until(lambda: _problems(net), lambda found: found == [])
    assert await client.hover(net, "self.fc(x)") is None


async def test_a_notebook_without_a_file_is_traced(start: Start) -> None:
    client = await start(NOTEBOOK)
    cells = Notebook(client, "untitled:Untitled-1.ipynb", [SETUP, NET]).cells
    await hints_of(client, cells[1], CALL, "(2, 8)")


async def _problems(cell: Buffer) -> list[Json] | None:
    return cell.problems
