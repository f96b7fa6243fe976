"""Files that do not concern torch are not read again until they change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxlsp.engine.index import scan
from fxlsp.engine.index.scan import read_index
from fxlsp.engine.index.skip_cache import FileState, SkipCache
from tests.support.waiting import eventually

MODEL = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x): return x\n"
PLAIN = "import os\n".ljust(len(MODEL), "#")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat all files as written long ago."""
    monkeypatch.setattr("fxlsp.engine.index.skip_cache._CLOCK_TICK_NS", -(10**18))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each file is added when it is read."""
    found: list[str] = []
    content = scan._content

    def reading(path: str) -> tuple[bytes, FileState] | None:
        found.append(os.path.basename(path))
        return content(path)

    monkeypatch.setattr(scan, "_content", reading)
    return found


@pytest.mark.usefixtures("settled")
def test_a_second_reading_reads_only_what_names_torch(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "models.py").write_text(MODEL)
    (tmp_path / "plain.py").write_text("import os\n")
    (tmp_path / "README.md").write_text("# Plain\n")
    first = read_index([str(tmp_path)])
    assert sorted(opened) == ["README.md", "models.py", "plain.py"]
    opened.clear()
    assert read_index([str(tmp_path)]).files == first.files
    assert opened == ["models.py"]


def wait_for_tick(path: Path) -> None:
    """Wait until a change of a file gets another time than its last one: some kernels give that of a timer's tick."""
    probe = path.with_name("probe")

    def has_ticked() -> bool:
        probe.write_bytes(b"")
        return probe.stat().st_ctime_ns > path.stat().st_ctime_ns

    eventually(has_ticked)
    probe.unlink()


@pytest.mark.usefixtures("settled")
def test_a_file_that_changes_counts_though_its_size_and_time_stay(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    path.write_text(PLAIN)
    assert not read_index([str(tmp_path)]).files
    before = path.stat()
    wait_for_tick(path)
    path.write_text(MODEL)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert list(read_index([str(tmp_path)]).files) == [str(path)]


@pytest.mark.usefixtures("settled")
def test_an_unchanged_file_counts_once_what_it_imports_does(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "models.py").write_text("Net = None\n")
    (tmp_path / "using.py").write_text("import models\nmodels.Net(3)\n")
    assert not read_index([str(tmp_path)]).files
    (tmp_path / "models.py").write_text(MODEL)
    opened.clear()
    assert sorted(read_index([str(tmp_path)]).files) == [str(tmp_path / "models.py"), str(tmp_path / "using.py")]
    assert opened == ["models.py", "using.py"]


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "plain.py").write_text("import os\n")
    read_index([str(tmp_path)])
    read_index([str(tmp_path)])
    assert opened == ["plain.py", "plain.py"]


@pytest.mark.usefixtures("settled")
def test_a_file_that_is_gone_is_forgotten(tmp_path: Path, cache_folder: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("import os\n")
    read_index([str(tmp_path)])
    (kept,) = cache_folder.rglob("unrelated-*")
    assert str(path) in kept.read_text()
    path.unlink()
    read_index([str(tmp_path)])
    assert str(path) not in kept.read_text()


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"version": "0"}', "\0", '{"version": "VERSION", "files": {"PATH": [1, 2]}}']
)
def test_what_is_kept_and_means_nothing_is_as_if_nothing_were(tmp_path: Path, content: str) -> None:
    path = tmp_path / "plain.py"
    path.write_text("import os\n")
    files = SkipCache(str(tmp_path), tmp_path)
    files.add(str(path), FileState.of(path.stat()), frozenset({"os"}))
    files.write()
    assert SkipCache(str(tmp_path), tmp_path).imports_of(str(path)) == frozenset({"os"})
    (kept,) = tmp_path.glob("unrelated-*")
    version = kept.read_text().split('"')[3]
    kept.write_text(content.replace("VERSION", version).replace("PATH", str(path)))
    assert SkipCache(str(tmp_path), tmp_path).imports_of(str(path)) is None


@pytest.mark.usefixtures("settled")
def test_nowhere_to_keep_it_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    files = SkipCache("/project", path)
    files.add(str(path), FileState.of(path.stat()), frozenset())
    files.write()
