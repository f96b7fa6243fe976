"""Texts of closed files are read again where they may have changed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from fxlsp.engine.index.skip_cache import FileState
from fxlsp.engine.running.file_cache import FileCache


def text_of(cache: FileCache, path: Path) -> str | None:
    document = cache.read(str(path))
    return None if document is None else document.text


def set_state(monkeypatch: pytest.MonkeyPatch, nanoseconds: int) -> None:
    """Have the system report the same state of every file, with this time of its last change."""
    monkeypatch.setattr(FileState, "of", lambda status: FileState(6, nanoseconds, nanoseconds))


def test_a_text_of_the_same_size_and_times_is_read_again_while_clocks_may_not_have_ticked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    set_state(monkeypatch, time.time_ns() + 10**12)
    path.write_text("a = 1\n", encoding="utf-8")
    assert text_of(cache, path) == "a = 1\n"
    path.write_text("b = 1\n", encoding="utf-8")
    assert text_of(cache, path) == "b = 1\n"


def test_a_file_whose_metadata_changed_is_read_again(tmp_path: Path) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    path.write_text("a = 1\n", encoding="utf-8")
    times = (1_000_000_000, 1_000_000_000)
    os.utime(path, ns=times)
    assert text_of(cache, path) == "a = 1\n"
    path.write_text("b = 1\n", encoding="utf-8")
    os.utime(path, ns=times)
    assert text_of(cache, path) == "b = 1\n"


def test_a_file_in_the_state_that_it_had_long_ago_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    path.write_text("a = 1\n", encoding="utf-8")
    set_state(monkeypatch, time.time_ns() - 10**10)
    first = cache.read(str(path))
    path.write_text("b = 1\n", encoding="utf-8")
    assert cache.read(str(path)) is first


def test_a_file_in_another_state_than_before_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    path.write_text("a = 1\n", encoding="utf-8")
    set_state(monkeypatch, time.time_ns() - 10**11)
    assert text_of(cache, path) == "a = 1\n"
    path.write_text("b = 1\n", encoding="utf-8")
    set_state(monkeypatch, time.time_ns() - 10**10)
    assert text_of(cache, path) == "b = 1\n"


def test_a_notebook_whose_cells_are_split_without_a_change_of_text_has_its_new_cells(tmp_path: Path) -> None:
    path, cache = tmp_path / "net.ipynb", FileCache()
    for cells in (["a = 1\nb = 2"], ["a = 1", "b = 2"]):
        written = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cells]
        path.write_text(json.dumps({"cells": written, "metadata": {}, "nbformat": 4}), encoding="utf-8")
        document = cache.read(str(path))
        assert document is not None
        assert document.cells is not None
        assert [extent.cell.text.rstrip("\n") for extent in document.cells.extents] == cells


def test_a_text_that_is_read_again_and_is_the_same_is_the_same_document(tmp_path: Path) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    path.write_text("a = 1\n", encoding="utf-8")
    first = cache.read(str(path))
    os.utime(path)
    assert cache.read(str(path)) is first


def test_of_a_file_that_is_gone_there_is_nothing(tmp_path: Path) -> None:
    path, cache = tmp_path / "net.py", FileCache()
    path.write_text("a = 1\n", encoding="utf-8")
    assert text_of(cache, path) is not None
    path.unlink()
    assert cache.read(str(path)) is None
