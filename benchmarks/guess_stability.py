"""Whether guessed inputs stay while a model is edited: the same text, the same guess.

    python -m benchmarks.guess_stability --edits 500

Two measurements, each in a real session without an editor. Random edits of models that nothing feeds are made and
undone one by one: the recipe that is shown has to be the same whenever the text is. And mistakes are put into models
whose inputs were guessed: each has to be reported while the inputs stay, and nothing is left of it when it is undone.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from random import Random

from benchmarks.mistakes.broken_model import BrokenModel, Host, Mistake
from benchmarks.mistakes.hosts import published_source
from benchmarks.mistakes.sizes import MODELS
from fxlsp.engine.running.engine import Engine
from fxlsp.engine.state.folders import ClientSettings
from fxlsp.engine.state.snapshot import ModelState
from fxlsp.ide.trace_view.provenance import recipe_text
from fxlsp.source.text.documents import Document, TextEdit, uri_of_path

TORCHVISION = ("alexnet", "squeezenet")
"""Its files of which every class is traced within two seconds."""
_DEEPEST = 4
"""Edits that are made before the first is undone."""
_SECONDS = 60.0

Recipes = dict[str, str]
"""The recipe that is shown of each model, by name."""


class Session:
    """A workspace with one open file."""

    def __init__(self, folder: Path, name: str, text: str) -> None:
        self._engine = Engine([str(folder)], ClientSettings({"python": sys.executable}), trusted=True)
        self._changed = asyncio.Event()
        self._engine.subscribe(lambda _: self._changed.set())
        self.path = str(folder / name)
        Path(self.path).write_text(text, encoding="utf-8")
        self._engine.open(Document(uri_of_path(self.path), self.path, 1, text))

    @property
    def text(self) -> str:
        return self._engine.snapshot.documents[self.path].text

    @property
    def states(self) -> tuple[ModelState, ...]:
        return self._engine.snapshot.states_in(self.path)

    @property
    def parses(self) -> bool:
        return self._engine.snapshot.documents[self.path].parses

    def set_text(self, text: str) -> None:
        """Replace what differs, as one edit."""
        old, start = self.text, 0
        while start < min(len(old), len(text)) and old[start] == text[start]:
            start += 1
        end = 0
        while end < min(len(old), len(text)) - start and old[-1 - end] == text[-1 - end]:
            end += 1
        edit = TextEdit(start, len(old) - end, text[start : len(text) - end])
        version = self._engine.snapshot.documents[self.path].version or 0
        self._engine.change(self.path, [edit], version + 1)

    async def settled(self) -> None:
        """Wait until all work is done."""
        with suppress(asyncio.TimeoutError):
            while not self._engine.is_idle:
                self._changed.clear()
                await asyncio.wait_for(self._changed.wait(), _SECONDS)

    def recipes(self) -> Recipes:
        """Return the recipes of the models of the present text that have a report of it."""
        reports = {state.key.name: state.report for state in self.states if state.failure is None}
        return {name: recipe_text(report.recipe) for name, report in reports.items() if report is not None}

    async def close(self) -> None:
        await self._engine.shutdown()


async def undone(sources: dict[str, str], edits: int, seed: int) -> tuple[int, list[str]]:
    """Return how many recipes were compared, and those that were others for the same text."""
    compared, others = 0, []
    share = -(-edits // len(sources))
    for number, (name, text) in enumerate(sources.items()):
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder), name, text)
            await session.settled()
            seen, random = {text: session.recipes()}, Random(seed + number)
            stack, made = [text], 0
            while made < share or len(stack) > 1:
                undoes = len(stack) > 1 and (made >= share or len(stack) > _DEEPEST or random.random() < 0.5)
                if undoes:
                    stack.pop()
                else:
                    made += 1
                    stack.append(_edited(random, stack[-1]))
                session.set_text(stack[-1])
                await session.settled()
                if not session.parses:
                    continue
                shown, before = session.recipes(), seen.setdefault(stack[-1], session.recipes())
                if undoes:
                    compared += len(before)
                    others += [f"{name}: {before[each]} then {shown.get(each)}" for each in _different(before, shown)]
            await session.close()
        print(f"{name}: {share} edits; so far {compared} recipes compared, {len(others)} changed", file=sys.stderr)
    return compared, others


def _different(before: Recipes, after: Recipes) -> list[str]:
    return [name for name in before if before[name] != after.get(name)]


def _edited(random: Random, text: str) -> str:
    """Return the text with another number, or a line less, twice, or changed with the next."""
    ways: tuple[Callable[[Random, str], str], ...] = (_with_number, _with_number, _with_number, _with_line)
    return random.choice(ways)(random, text)


def _with_number(random: Random, text: str) -> str:
    start, end = random.choice([found.span() for found in re.finditer(r"(?<![\w.])\d+\b", text)])
    return text[:start] + str(random.choice((1, 2, 3, 8, 16, 33, 64))) + text[end:]


def _with_line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    place = random.randrange(len(lines) - 1)
    first, second = lines[place : place + 2]
    lines[place : place + 2] = random.choice(([second], [first, first, second], [second, first]))
    return "".join(lines)


async def reported(models: Iterable[tuple[Host, tuple[Mistake, ...]]]) -> tuple[list[str], list[str]]:
    """Return the mistakes that were reported with the inputs of before, and those that were not."""
    right: list[str] = []
    wrong: list[str] = []
    for host, mistakes in models:
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder), "net.py", host.text)
            await session.settled()
            before = session.recipes()
            for mistake in mistakes:
                why = await _why_not(session, host.broken(mistake), before)
                (wrong if why else right).append(f"{mistake.kind} in {host.name}: {why}")
            await session.close()
    return right, wrong


async def _why_not(session: Session, broken: BrokenModel, before: Recipes) -> str:
    """Put in a mistake and undo it; return what is wrong with what is shown, or nothing."""
    session.set_text(broken.text)
    await session.settled()
    reports = [state.report for state in session.states if state.report is not None]
    is_reported = any(broken.is_reported_by(each) for report in reports for each in report.problems)
    found = session.recipes()
    session.set_text(broken.host.text)
    await session.settled()
    left = [each.code for state in session.states if state.report is not None for each in state.report.problems]
    if session.recipes() != before or left:
        return f"undone it is {session.recipes()} with {left}"
    if not is_reported:
        return f"not reported with {found}"
    return f"reported with {found} instead of {before}" if found != before else ""


def _sources() -> dict[str, str]:
    """Return the texts of the small models, and of files of torchvision."""
    texts = {f"{number}.py": host.text for number, (host, _) in enumerate(MODELS)}
    if find_spec("torchvision") is not None:
        texts.update({f"{name}_.py": published_source(name) for name in TORCHVISION})
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.guess_stability", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--edits", type=int, default=500, help="random edits; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only edit, and only files whose name has this text")
    arguments = parser.parse_args()
    others: list[str] = []
    if arguments.edits:
        sources = {name: text for name, text in _sources().items() if arguments.only in name}
        compared, others = asyncio.run(undone(sources, arguments.edits, arguments.seed))
        for each in others:
            print(each)
        print(f"recipes of texts that came back: {compared}, others than before: {len(others)}")
    if not arguments.only:
        right, wrong = asyncio.run(reported(MODELS))
        for each in wrong:
            print(each)
        print(f"mistakes reported while the inputs stayed: {len(right)} of {len(right) + len(wrong)}")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
