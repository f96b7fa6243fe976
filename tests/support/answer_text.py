"""LSP answers as text for scenarios, with lines and code points from 1."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from dev.rpc import Json
from fxlsp.report.codes import RECORDS
from tests.support.client import Buffer, Client

_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_TAGS = {1: "unnecessary", 2: "deprecated"}
_LONGEST_EXCERPT = 60
_OF_TORCH = re.compile(r"(FX[78]\d\d): (torch\.\w+: )")
"""Begin of a problem of another front end than torch.fx, before its words."""


class Answers:
    """Formatter of answers about the files of one folder."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder

    def span(self, uri: str, span: Json) -> str:
        """Return ``12:9-12:19 `self.fc(x)```: a range and the start of its text."""
        buffer = self._buffer(uri)
        places = [self._place(buffer, span[side]) for side in ("start", "end")]
        covered = self._client.covered(buffer, span)
        short = covered if len(covered) <= _LONGEST_EXCERPT else covered[:_LONGEST_EXCERPT] + "…"
        return f"{'-'.join(places)} `{short}`".replace("\n", "↵")

    def link(self, target: Json) -> str:
        """Return the target of a Location or LocationLink."""
        uri = target.get("targetUri") or target["uri"]
        span = target.get("targetSelectionRange") or target["range"]
        return f"{self._name(uri)}:{self.span(uri, span)}"

    def hover(self, uri: str, hover: Json) -> Iterator[str]:
        if hover is None:
            yield "nothing"
            return
        yield self.span(uri, hover["range"])
        yield from map(_without_headline, hover["contents"]["value"].split("\n"))

    def hint(self, uri: str, hint: Json) -> str:
        return f"{self._line(uri, hint['position'])} «{hint['label']}»"

    def lens(self, uri: str, lens: Json) -> str:
        command = lens["command"]["command"]
        return f"{self._line(uri, lens['range']['start'])} «{lens['command']['title']}» {command or ''}".rstrip()

    def problem(self, uri: str, problem: Json) -> Iterator[str]:
        tags = "".join(f" {_TAGS[tag]}" for tag in problem.get("tags", ()))
        yield f"{problem['code']} {_SEVERITIES[problem['severity']]}{tags} {self.span(uri, problem['range'])}"
        # Words of torch.export and torch.compile differ from version to version.
        of_torch = _OF_TORCH.match(f"{problem['code']}: {problem['message']}")
        shown = problem["message"].split("\n") if of_torch is None else [f"{of_torch[2]}…"]
        yield from (f"  {line}" for line in shown)
        for related in problem.get("relatedInformation", ()):
            yield f"  {self.link(related['location'])}: {related['message']}"

    def symbol(self, uri: str, symbol: Json, depth: int = 0) -> Iterator[str]:
        detail = f" · {symbol['detail']}" if symbol.get("detail") else ""
        yield f"{'  ' * depth}{symbol['name']}{detail} {self.span(uri, symbol['selectionRange'])}"
        for child in symbol.get("children") or ():
            yield from self.symbol(uri, child, depth + 1)

    def called(self, item: Json) -> str:
        return f"{item['name']} · {item.get('detail') or ''} {self._name(item['uri'])}:{self._range_of(item)}"

    def changes(self, before: str, after: str) -> Iterator[str]:
        """Yield the lines that differ."""
        lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
        yield from (line for line in lines if not line.startswith(("---", "+++", "@@")))

    def _range_of(self, item: Json) -> str:
        return self.span(item["uri"], item["selectionRange"])

    def _line(self, uri: str, position: Json) -> str:
        buffer = self._buffer(uri)
        return f"{self._place(buffer, position)} {buffer.text.split(chr(10))[position['line']].strip()}"

    def _place(self, buffer: Buffer, position: Json) -> str:
        before = buffer.text[: self._client.offset(buffer, position)]
        return f"{before.count(chr(10)) + 1}:{len(before) - (before.rfind(chr(10)) + 1) + 1}"

    def _buffer(self, uri: str) -> Buffer:
        open_one = self._client.buffers.get(uri)
        return open_one or Buffer(uri, (self._folder / self._name(uri)).read_text(encoding="utf-8"))

    def _name(self, uri: str) -> str:
        return uri.removeprefix(self._folder.as_uri() + "/")


def _without_headline(line: str) -> str:
    """Return a hover's line without torch's own words, between the front end and the advice on the code."""
    of_torch = _OF_TORCH.match(line)
    if of_torch is None:
        return line
    advice = RECORDS[of_torch[1]].advice.replace("`", "")
    return of_torch[0] + "…" + line[line.index(advice) - 2 :]
