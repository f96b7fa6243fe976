"""Line ends, tabs, byte order marks, form feeds and characters of two code units: every place is where it should be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

FIRST = "import torch; from torch import nn"

NET = """\
# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        '😀é'; y = self.fc(
            x)
        'é😀'; return y @ y
"""

BODY = f"{FIRST}\n\n\n{NET}"

KINDS = {
    "lines that end with LF": BODY,
    "lines that end with CR LF": BODY.replace("\n", "\r\n"),
    "lines that end with CR": BODY.replace("\n", "\r"),
    "lines that end in all three ways": BODY.replace("\n", "\r\n", 5)
    .replace("        y", "\ty")
    .replace("\n\n", "\r\n"),
    "tabs": BODY.replace("    ", "\t").replace("y = ", "y\t=\t"),
    "a byte order mark": f"\ufeffmade = 1; {BODY}",
    "form feeds": BODY.replace("\n\n\n", "\n\f\n\f")
    .replace("'😀é'", "'\f😀\u2028\u2029\v\x85\x1c'")
    .replace("@", "\f@"),
    "characters of two code units": BODY.replace("y", "𝑦é").replace("t𝑦épe", "type"),
    "no end of the last line": BODY.rstrip("\n"),
    "characters in the recipe": BODY.replace("randn(2", "randn(len('😀é')"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_places_are_right_in_every_kind_of_text(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    for number, (kind, text) in enumerate(KINDS.items()):
        shown = Shown(client, client.open(tmp_path / f"net{number}.py", text))
        variable = "𝑦é" if "𝑦" in text else "y"
        call = next(iter(re.findall(r"self\.fc\(\s+x\)", text)))
        product = next(iter(re.findall(rf"{variable} \f?@ {variable}", text)))

        problems = await client.until(shown.problems, lambda found: found)
        assert [(each["code"], shown.covered(each["range"])) for each in problems or ()] == [("FX401", product)], kind
        position = shown.position(text.index(call))
        hover = await client.ask("textDocument/hover", shown.buffer, position=position)
        assert shown.covered(hover["range"]) == call, kind
        everything = {"start": shown.position(0), "end": shown.position(len(text))}
        hints = await client.ask("textDocument/inlayHint", shown.buffer, range=everything)
        places = {shown.offset(hint["position"]): hint["label"] for hint in hints}
        assert places[text.index(call) + len(call)] == "(2, 4)", kind
        lenses = await client.ask("textDocument/codeLens", shown.buffer)
        assert {shown.covered(lens["range"]) for lens in lenses} == {"Net", "forward"}, kind

        shown.replace(product, f"{variable} * {variable}")
        await client.until(shown.problems, lambda found: found == [])
        client.close(shown.buffer)


class Shown:
    """A text with the protocol's positions in it, counted another way than the server does."""

    def __init__(self, client: Client, buffer: Buffer) -> None:
        self._client = client
        self.buffer = buffer

    async def problems(self) -> list[Json] | None:
        return await self._client.problems(self.buffer)

    def position(self, offset: int) -> dict[str, int]:
        lines = re.split(r"\r\n|\r|\n", self.buffer.text[:offset])
        return {"line": len(lines) - 1, "character": self._length(lines[-1])}

    def offset(self, position: Json) -> int:
        found = [at for at in range(len(self.buffer.text) + 1) if self.position(at) == position]
        return found[0]

    def covered(self, span: Json) -> str:
        return self.buffer.text[self.offset(span["start"]) : self.offset(span["end"])]

    def replace(self, old: str, new: str) -> None:
        start = self.buffer.text.index(old)
        span = {"start": self.position(start), "end": self.position(start + len(old))}
        self.buffer.text = self.buffer.text.replace(old, new, 1)
        self.buffer.version += 1
        document = {"uri": self.buffer.uri, "version": self.buffer.version}
        change = {"textDocument": document, "contentChanges": [{"range": span, "text": new}]}
        self._client.connection.notify("textDocument/didChange", change)

    def _length(self, text: str) -> int:
        encoding = "utf-8" if self._client.abilities.encoding == "utf-8" else "utf-16-le"
        return len(text.encode(encoding)) // (1 if encoding == "utf-8" else 2)
