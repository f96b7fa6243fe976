"""Texts for related places in closed files are read beside the loop, and again after each trace."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.running.file_cache import FileCache
from fxlsp.server.shared.related_texts import RelatedTexts
from fxlsp.source.text.documents import Document
from tests.server.conftest import Start
from tests.support.client import Buffer, Client
from tests.support.waiting import PATIENCE, eventually_async

MODEL = """\
import torch
from layers import Layers


# fxlsp: Net()(torch.randn(2, 3))
class Net(Layers):
    def forward(self, x):
        return self.fc(x)
"""
LAYERS = """\
from torch import nn


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 4)
"""


class SlowDisk(FileCache):
    """A disk that answers when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = threading.Event()
        self.asked: list[str] = []

    def read(self, path: str) -> Document | None:
        self.asked.append(path)
        assert self.answers.wait(PATIENCE)
        return super().read(path)


@pytest.fixture
def disk() -> SlowDisk:
    return SlowDisk()


@pytest.fixture
async def texts(disk: SlowDisk) -> AsyncIterator[RelatedTexts]:
    texts = RelatedTexts(disk)
    yield texts
    disk.answers.set()
    await texts.close()


def text_of(texts: RelatedTexts, path: Path) -> str | None:
    document = texts.document(str(path))
    return None if document is None else document.text


def counted(texts: RelatedTexts) -> Callable[[], int]:
    """Return the number of changes that a subscriber has seen, as a function."""
    changes: list[None] = []
    texts.subscribe(lambda: changes.append(None))
    return lambda: len(changes)


async def related_places(client: Client, buffer: Buffer) -> list[tuple[str, int]]:
    """Return the file and the line, from 0, of each related place of a document's problems."""
    problems = await client.problems(buffer) or ()
    locations = [each["location"] for problem in problems for each in problem.get("relatedInformation", ())]
    return [(Path(each["uri"]).name, each["range"]["start"]["line"]) for each in locations]


async def test_nobody_waits_for_a_disk_and_subscribers_learn_of_its_answer(
    texts: RelatedTexts, disk: SlowDisk, tmp_path: Path
) -> None:
    path, changes = tmp_path / "layers.py", counted(texts)
    path.write_text("a = 1\n", encoding="utf-8")
    assert text_of(texts, path) is None
    await eventually_async(lambda: disk.asked)
    assert changes() == 0
    disk.answers.set()
    await eventually_async(changes)
    assert text_of(texts, path) == "a = 1\n"


async def test_a_file_is_read_once_until_a_trace_may_have_read_a_newer_text(
    texts: RelatedTexts, disk: SlowDisk, tmp_path: Path
) -> None:
    path, changes = tmp_path / "layers.py", counted(texts)
    disk.answers.set()
    path.write_text("a = 1\n", encoding="utf-8")
    await eventually_async(lambda: text_of(texts, path) == "a = 1\n")
    path.write_text("a = 2\n", encoding="utf-8")
    texts.follow(SnapshotChange("edit"))
    assert text_of(texts, path) == "a = 1\n"
    assert (len(disk.asked), changes()) == (1, 1)
    texts.follow(SnapshotChange("trace"))
    await eventually_async(lambda: text_of(texts, path) == "a = 2\n")
    assert (len(disk.asked), changes()) == (2, 2)


async def test_as_many_texts_are_known_as_a_workspace_with_many_problems_needs(
    texts: RelatedTexts, disk: SlowDisk, tmp_path: Path
) -> None:
    paths = [tmp_path / f"layers{number}.py" for number in range(200)]
    for path in paths:
        path.write_text("a = 1\n", encoding="utf-8")
    disk.answers.set()
    await eventually_async(lambda: all(text_of(texts, path) for path in paths))


async def test_an_unchanged_text_is_no_change(texts: RelatedTexts, disk: SlowDisk, tmp_path: Path) -> None:
    path, changes = tmp_path / "layers.py", counted(texts)
    disk.answers.set()
    path.write_text("a = 1\n", encoding="utf-8")
    await eventually_async(lambda: text_of(texts, path))
    texts.follow(SnapshotChange("trace"))
    other = tmp_path / "other.py"
    other.write_text("b = 1\n", encoding="utf-8")
    assert text_of(texts, path) == "a = 1\n"
    await eventually_async(lambda: text_of(texts, other))
    assert (len(disk.asked), changes()) == (3, 2)


async def test_a_place_in_a_file_that_is_gone_is_left_out(texts: RelatedTexts, disk: SlowDisk, tmp_path: Path) -> None:
    path = tmp_path / "layers.py"
    disk.answers.set()
    path.write_text("a = 1\n", encoding="utf-8")
    await eventually_async(lambda: text_of(texts, path))
    path.unlink()
    texts.follow(SnapshotChange("session"))
    await eventually_async(lambda: text_of(texts, path) is None)


async def test_a_problem_names_its_place_in_a_file_that_is_not_open(start: Start, tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text(LAYERS, encoding="utf-8")
    client = await start()
    buffer = client.open(tmp_path / "net.py", MODEL)
    made = ("layers.py", 6)
    await client.until(lambda: related_places(client, buffer), lambda places: made in places)
