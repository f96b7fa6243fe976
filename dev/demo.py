"""``make demo``: a trace of ResNet-18, then ``examples/`` as an editor shows them.

The model is torchvision's. All of the second part comes from the real server process, through a real LSP session.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from dev.editor import Editor, editor
from dev.rpc import Json

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

HOVERS = {
    "resnet.py": ["self.conv1(x)", "self.layer2(x)", "torch.flatten(x, 1)"],
    "segmentation.py": ["torch.cat([fine, up], dim=1)", "self.decoder(fine, coarse)"],
    "early_exit.py": ["guess.amax(dim=-1)"],
}
"""Expressions to hover over, by file."""

_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_UNSETTLED = ("tracing…", "not traced yet")


def main() -> int:
    command = ["trace", "torchvision.models:resnet18"]
    print(f"$ fxlsp {' '.join(command)}\n", flush=True)
    traced = subprocess.run([sys.executable, "-m", "fxlsp", *command], check=False).returncode
    asyncio.run(show_examples())
    return traced


async def show_examples() -> None:
    async with editor(EXAMPLES) as client:
        for path in (EXAMPLES / name for name in HOVERS):
            print(f"\n\nexamples/{path.name} in an editor\n")
            for line in await view(client, path):
                print(line)


async def view(client: Editor, path: Path) -> list[str]:
    """Return the lines of one file as an editor shows them.

    Lenses are above lines, hints behind them, problems and hovers below.
    """
    uri = client.open(path)
    lenses = await client.until(lambda: settled_lenses(client, uri))
    lenses_at, hints_at = by_line(lenses), by_line(await client.hints(uri), at="position")
    problems_at = by_line(client.buffers[uri].problems)
    hovers_at = await hovers(client, uri, path.name)
    lines: list[str] = []
    for number, line in enumerate(client.buffers[uri].text.splitlines()):
        indent = line[: len(line) - len(line.lstrip())]
        lines += [f"     {indent}[{lens['command']['title']}]" for lens in lenses_at[number]]
        lines.append(f"{number + 1:>3}  {line}{''.join(hint_text(hint) for hint in hints_at[number])}".rstrip())
        lines += [text for problem in problems_at[number] for text in problem_lines(problem, line)]
        lines += hovers_at[number]
    return lines


async def settled_lenses(client: Editor, uri: str) -> list[Json] | None:
    """Return the lenses once every model has been traced, or has a reason why not.

    None before.
    """
    lenses = await client.lenses(uri)
    settled = lenses and not any(lens["command"]["title"].endswith(_UNSETTLED) for lens in lenses)
    return lenses if settled else None


def by_line(items: list[Json], at: str = "range") -> dict[int, list[Json]]:
    """Return answers by the line, from 0, on which they start."""
    lines: dict[int, list[Json]] = defaultdict(list)
    for item in items:
        lines[(item[at]["start"] if at == "range" else item[at])["line"]].append(item)
    return lines


async def hovers(client: Editor, uri: str, name: str) -> dict[int, list[str]]:
    """Return the hovers over the expressions chosen for a file, by line."""
    shown: dict[int, list[str]] = defaultdict(list)
    for expression in HOVERS[name]:
        before, _, _ = client.buffers[uri].text.partition(expression)
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        # On the last name before the call: a mouse points at a word.
        text = await client.hover(uri, line, column + max(0, expression.index("(") - 1))
        shown[line] += framed(f"hover on {expression}", text or "(nothing)")
    return shown


def framed(title: str, text: str) -> Iterator[str]:
    yield f"       ╭─ {title}"
    for line in text.rstrip().split("\n"):
        yield f"       │ {line}".rstrip()
    yield "       ╰─"


def hint_text(hint: Json) -> str:
    label = hint["label"]
    return f"  ‹{label if isinstance(label, str) else ''.join(part['value'] for part in label)}›"


def problem_lines(problem: Json, line: str) -> Iterator[str]:
    """Yield the underline of a problem, and its message."""
    start, end = problem["range"]["start"], problem["range"]["end"]
    length = end["character"] if end["line"] == start["line"] else len(line)
    yield f"     {' ' * start['character']}{'~' * max(1, length - start['character'])}"
    first, *rest = problem["message"].split("\n")
    yield f"     {' ' * start['character']}{_SEVERITIES[problem['severity']]} {problem['code']}: {first}"
    yield from (f"     {' ' * start['character']}{text}" for text in rest)


if __name__ == "__main__":
    sys.exit(main())
