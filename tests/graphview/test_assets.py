"""The files that the package brings: elkjs as it was published, and pages that are thrown away in time."""

from __future__ import annotations

import os
from pathlib import Path

from dev.elkjs import FOLDER, recorded, sha512
from fxlsp.graphview.cache import page_path, write_page
from fxlsp.graphview.html import elkjs


def test_elkjs_is_the_one_that_was_published() -> None:
    assert {name: sha512(FOLDER / name) for name in recorded()["files"]} == recorded()["files"]


def test_elkjs_can_be_part_of_a_page() -> None:
    """Nothing in it ends the element around, or makes the end of it invisible."""
    assert "</script" not in elkjs().lower()
    assert "<!--" not in elkjs()


def test_pages_make_room_for_newer_ones(tmp_path: Path) -> None:
    paths = [page_path("net.py", f"Net{number}", tmp_path) for number in range(40)]
    for age, path in enumerate(reversed(paths)):
        write_page(path, "")
        os.utime(path, (1e9 + age, 1e9 + age))
    write_page(paths[-1], "newest")
    assert len(list(paths[0].parent.iterdir())) == 30
    assert paths[-1].read_text() == "newest"


def test_models_of_one_name_have_pages_of_their_own(tmp_path: Path) -> None:
    pages = {page_path(where, name, tmp_path) for where in ("a.py", "b.py") for name in ("Net", "b:Net", "../Net")}
    assert len(pages) == 6
    assert {page.parent for page in pages} == {tmp_path / "graphs"}
