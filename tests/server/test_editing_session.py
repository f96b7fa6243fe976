"""A whole session with the real server and the real torch: open a ResNet of one's own, hover, break it, mend it, pin
another instance, rename a layer, undo. ``pytest -rP`` shows how long each answer took.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

# The emoji and the umlauts make columns differ between UTF-8 and UTF-16 on the very lines that are looked at.
RESNET = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x):
        "grün 😀"; y = self.relu(self.conv1(x))
        return self.relu(self.conv2(y) + x)


class ResNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 7, stride=2, padding=3)
        self.layers = nn.Sequential(Block(16), Block(16))
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x = self.stem(x)
        "😀ß"; x = self.layers(x)
        x = torch.flatten(x.mean((2, 3)), 1)
        return self.head(x)


if __name__ == "__main__":
    print(ResNet(10)(torch.randn(1, 3, 32, 32)).shape)
"""

CONV = '"grün 😀"; y = self.relu(self.conv1(x))'
HINTS = {
    "def forward(self, x": "(1, 3, 32, 32)",
    '"grün 😀"; y = self.relu(self.conv1(x))': "(1, 16, 16, 16)",
    "return self.relu(self.conv2(y) + x)": "(1, 16, 16, 16)",
    "x = self.stem(x)": "(1, 16, 16, 16)",
    '"😀ß"; x = self.layers(x)': "(1, 16, 16, 16)",
    "x = torch.flatten(x.mean((2, 3)), 1)": "(1, 16)",
    "return self.head(x)": "(1, 10)",
}


@pytest.fixture(params=["utf-8", "utf-16"])
def encoding(request: pytest.FixtureRequest) -> Encoding:
    encoding: Encoding = request.param
    return encoding


async def test_a_session_from_first_shapes_to_an_error_and_back(
    start: Start, tmp_path: Path, encoding: Encoding
) -> None:
    path = tmp_path / "resnet.py"
    path.write_text(RESNET, encoding="utf-8")
    client = await start(Abilities(encoding))
    buffer = client.open(path)

    assert await client.until(lambda: client.hints(buffer), bool) == HINTS
    await lenses_tell_size_and_shapes(client, buffer)
    await hovers_tell_nodes_and_paths(client, buffer)
    await a_wider_stem_breaks_the_first_convolution_after_it(client, buffer)
    await a_wider_head_is_right_again(client, buffer)
    await another_instance_is_shown_once_it_is_pinned(client, buffer)
    await a_renamed_layer_is_told_by_its_new_name(client, buffer)
    await undoing_leads_back(client, buffer)
    sys.stdout.write(times_table(client))
    assert path.read_text(encoding="utf-8") == RESNET


async def lenses_tell_size_and_shapes(client: Client, buffer: Buffer) -> None:
    assert await client.lenses(buffer) == [
        ("class Block(nn.Module):", "traced inside ResNet · 2 calls"),
        ("def forward(self, x):", "layers.0 (+1 more): (1, 16, 16, 16) → (1, 16, 16, 16)"),
        ("class ResNet(nn.Module):", "16 nodes · 11.8 K parameters · 5.92 MFLOPs · traceable"),
        ("class ResNet(nn.Module):", "recipe: ResNet(10)(torch.randn(1, 3, 32, 32)) · call site resnet.py:32"),
        ("class ResNet(nn.Module):", "graph"),
        ("def forward(self, x):", "(1, 3, 32, 32) → (1, 10)"),
    ]


async def hovers_tell_nodes_and_paths(client: Client, buffer: Buffer) -> None:
    hover = await client.hover(buffer, "self.conv1(x)")
    assert client.covered(buffer, hover["range"]) == "self.conv1(x)"
    lines = hover["contents"]["value"].split("\n")
    assert lines[0].startswith("Conv2d(16, 16, kernel_size=(3, 3)")
    assert lines[2].split()[0] == "layers.{0,1}.conv1", "what differs in the instance alone shares a row"
    assert "from a call site" in lines[-1]


async def a_wider_stem_breaks_the_first_convolution_after_it(client: Client, buffer: Buffer) -> None:
    client.replace(buffer, "nn.Conv2d(3, 16, 7", "nn.Conv2d(3, 24, 7")
    assert await client.hints(buffer) == HINTS, "the last good shapes stay until the next trace"
    hints = await client.until(lambda: client.hints(buffer), lambda hints: hints != HINTS)
    assert hints["x = self.stem(x)"] == "(1, 24, 16, 16)"
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem["code"] == "FX401"
    assert problem["severity"] == 1
    assert client.covered(buffer, problem["range"]) == "self.conv1(x)"
    assert "expected input[1, 24, 16, 16] to have 16 channels, but got 24 channels instead" in problem["message"]
    assert (await client.lenses(buffer))[2][1].endswith("traceable · 1 problem")


async def a_wider_head_is_right_again(client: Client, buffer: Buffer) -> None:
    client.replace(buffer, "Block(16), Block(16)", "Block(24), Block(24)")
    client.replace(buffer, "nn.Linear(16", "nn.Linear(24")
    wide = {line: shape.replace("(1, 16", "(1, 24") for line, shape in HINTS.items()}
    await client.until(lambda: client.hints(buffer), lambda hints: hints == wide)
    await client.until(lambda: client.problems(buffer), lambda problems: problems == [])


async def another_instance_is_shown_once_it_is_pinned(client: Client, buffer: Buffer) -> None:
    client.replace(buffer, "Block(24), Block(24)", "Block(24), nn.AvgPool2d(2), Block(24)")
    await client.until(lambda: client.hints(buffer), lambda hints: hints[CONV].endswith("…"))
    _, second = await client.command("fxlsp.instances", buffer.uri, "Block")
    assert (second["text"], second["chosen"]) == ("ResNet · layers.2", False)
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block", second["id"])
    hints = await client.hints(buffer)
    assert hints["return self.relu(self.conv2(y) + x)"] == "(1, 24, 8, 8)"
    hover = await client.hover(buffer, "self.conv1(x)")
    assert "node layers_2_conv1" in hover["contents"]["value"]


async def a_renamed_layer_is_told_by_its_new_name(client: Client, buffer: Buffer) -> None:
    before = await client.hints(buffer)
    client.replace(buffer, "self.stem =", "self.entry =")
    hover = await client.hover(buffer, "self.stem(x)")
    assert "module path stem" in hover["contents"]["value"], "half of a renaming is no model: the last answer stays"
    client.replace(buffer, "self.stem(x)", "self.entry(x)")
    hover = await client.until(
        lambda: client.hover(buffer, "self.entry(x)"),
        lambda hover: hover and "path entry" in hover["contents"]["value"],
    )
    assert client.covered(buffer, hover["range"]) == "self.entry(x)"
    hints = {line.replace("self.entry", "self.stem"): shape for line, shape in (await client.hints(buffer)).items()}
    assert hints == before


async def undoing_leads_back(client: Client, buffer: Buffer) -> None:
    client.replace(buffer, "self.entry(x)", "self.stem(x)")
    client.replace(buffer, "self.entry =", "self.stem =")
    hover = await client.until(
        lambda: client.hover(buffer, "self.stem(x)"),
        lambda hover: hover and "module path stem" in hover["contents"]["value"] and "stale" not in str(hover),
    )
    assert client.covered(buffer, hover["range"]) == "self.stem(x)"
    await client.rest()
    assert buffer.problems == []


def times_table(client: Client) -> str:
    """How long the answers took, by method."""
    by_method: dict[str, list[float]] = defaultdict(list)
    for method, seconds in client.times:
        by_method[method].append(1000 * seconds)
    rows = [f"{method:<32}{len(each):>4}{median(each):>9.1f}{max(each):>9.1f}" for method, each in by_method.items()]
    return "\n".join([f"{'milliseconds':<32}{'':>4}{'median':>9}{'most':>9}", *rows, ""])
