"""URIs of editors and the paths they name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.source.text.documents import path_of_uri, uri_of_path

posix = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")


@posix
@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///no/a.py", "/no/a.py"),
        ("file:///no/a%20b/%C3%BC.py", "/no/a b/ü.py"),
        ("file:///no/a%23b%3Fc.py", "/no/a#b?c.py"),
        ("file:///no/a#b?c.py", "/no/a#b?c.py"),
        ("file:/no/a.py", "/no/a.py"),
        ("file://localhost/no/a.py", "/no/a.py"),
        ("FILE:///no/a.py", "/no/a.py"),
        ("file:///no/../yes/a.py", "/yes/a.py"),
        ("untitled:Untitled-1", "/untitled/Untitled-1.py"),
        ("untitled:model.py", "/untitled/model.py"),
        ("vscode-notebook-cell:/no/n.ipynb#W0sZmlsZQ%3D%3D", "/vscode-notebook-cell/no/n.ipynb#W0sZmlsZQ==.py"),
        ("git:/no/a.py?%7B%22ref%22%3A%22HEAD%22%7D", '/git/no/a.py?{"ref":"HEAD"}.py'),
    ],
)
def test_a_uri_names_a_path(uri: str, path: str) -> None:
    assert path_of_uri(uri) == path


@posix
@given(
    st.text(st.characters(exclude_characters="\x00/", exclude_categories=["Cs"]), min_size=1).map(
        lambda name: f"/no/{name}"
    )
)
def test_a_path_comes_back_from_its_uri(path: str) -> None:
    assert path_of_uri(uri_of_path(path)) == os.path.realpath(path)


@posix
def test_a_path_that_is_not_unicode_comes_back_from_its_uri() -> None:
    path = os.fsdecode(b"/no/\xff.py")
    assert uri_of_path(path) == "file:///no/%FF.py"
    assert path_of_uri(uri_of_path(path)) == path


def test_a_link_is_known_by_what_it_links_to(tmp_path: Path) -> None:
    target, link = tmp_path / "model.py", tmp_path / "link.py"
    target.write_text("", encoding="utf-8")
    link.symlink_to(target)
    assert path_of_uri(uri_of_path(str(link))) == os.path.realpath(target)


def test_windows_drives_and_shares_are_read_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(os.path, "realpath", lambda path: path)
    assert path_of_uri("file:///c%3A/Users/a.py") == "C:/Users/a.py"
    assert path_of_uri("file://server/share/a.py") == "//server/share/a.py"
    assert uri_of_path("C:\\Users\\a b.py") == "file:///C%3A/Users/a%20b.py"
    assert uri_of_path("\\\\server\\share\\a.py") == "file://server/share/a.py"
