"""Texts whose analysis runs on data that changes before its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fxlsp.engine.index.index import Index
from fxlsp.engine.running.documents import DocumentAnalyzer
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import Analysis, analyse
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes
from fxlsp.engine.state.folders import ClientSettings, read_folder
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.engine.state.session import Session
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.text.documents import Document, read_document
from tests.support.waiting import PATIENCE

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x.relu()
"""
USE = "import torch\nfrom net import Net\n\nnet = Net()\nnet(torch.randn(2, 3))\n"
LONG = "# More than is analysed without a thread.\n" * 100


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "net.py").write_text(NET + LONG)
    (tmp_path / "use.py").write_text(USE)
    return Session((read_folder(str(tmp_path), ClientSettings({})),))


class Held:
    """Analysis that waits until the test releases the first call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()

        def held(
            document: Document, settings: Settings, elsewhere: CrossFileRecipes, recordings: Recordings
        ) -> Analysis | None:
            self.began.set()
            assert self.goes_on.wait(10)
            return analyse(document, settings, elsewhere, recordings)

        monkeypatch.setattr("fxlsp.engine.running.documents.analyse", held)


async def recipes_after(
    session: Session, monkeypatch: pytest.MonkeyPatch, change: Callable[[DocumentAnalyzer], None]
) -> list[str]:
    """Return the model's inputs after a change during the first analysis of its text."""
    held = Held(monkeypatch)
    path = f"{session.folders[0].path}/net.py"
    document = read_document(path)
    session.open(document)
    with ThreadPoolExecutor(1) as executor:
        known = asyncio.Event()
        tested = DocumentAnalyzer(session, executor, lambda path: known.set())
        tested.text_changed(document)
        assert await asyncio.to_thread(held.began.wait, PATIENCE)
        change(tested)
        held.goes_on.set()
        while tested.is_busy:
            await asyncio.wait_for(known.wait(), PATIENCE)
            known.clear()
    (candidate,) = session.analyses[path].candidates
    return [recipe.inputs for recipe in candidate.recipes if recipe is not None and recipe.inputs is not None]


async def test_what_the_index_has_learned_meanwhile_counts(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(tested: DocumentAnalyzer) -> None:
        paths = [f"{session.folders[0].path}/{name}" for name in ("net.py", "use.py")]
        session.set_index(Index({path: file_summary_of(read_document(path)) for path in paths}))
        tested.other_files_changed(None)

    assert await recipes_after(session, monkeypatch, read) == ["torch.randn(2, 3)"]


async def test_settings_that_have_changed_meanwhile_count(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def set_recipe(tested: DocumentAnalyzer) -> None:
        (folder,) = session.folders
        Path(folder.path, "pyproject.toml").write_text(
            '[tool.fxlsp.recipes]\n"net.py:Net" = ["Net()(torch.randn(7, 3))"]\n'
        )
        session.set_folders((read_folder(folder.path, ClientSettings({})),))
        tested.text_changed(next(iter(session.documents.values())))

    assert await recipes_after(session, monkeypatch, set_recipe) == ["torch.randn(7, 3)"]
