"""Scan of folders for the summaries of their files, with a cache on disk."""

from __future__ import annotations

import contextlib
import io
import os
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fxlsp.engine.index.index import Index
from fxlsp.engine.index.python_files import IsExcluded, IsStopped, exclude_nothing, files_below, never_stop
from fxlsp.engine.index.skip_cache import FileState, SkipCache
from fxlsp.engine.storage.index_files import IndexFile
from fxlsp.source.models.file_summary import FileSummary, file_summary_of, imported_modules, may_define_models
from fxlsp.source.recipes.markdown_blocks import SUFFIX, block_name, code_blocks
from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.ipynb import is_notebook

_MOST_FILES = 20_000
"""Limit of files read below one folder; the others are ignored."""
_MOST_BYTES = 2_000_000
"""Larger files are ignored: they are generated."""
_SMALL_BYTES = 2**18
"""Parsing this much takes a tenth of a second, as long as starting a process."""

MayParse = Callable[[str], bool]
"""Called with the path of a file before it is parsed; False skips the file."""


def parse_all(_: str) -> bool:
    """Return True: a ``MayParse`` that skips nothing."""
    return True


def read_index(
    folders: Iterable[str],
    is_stopped: IsStopped = never_stop,
    is_excluded: IsExcluded = exclude_nothing,
    may_parse: MayParse = parse_all,
) -> Index:
    """Return the index of all Python files below some folders.

    Args:
        may_parse: as for :func:`folder_summaries`.

    Raises:
        StoppedError: ``is_stopped`` returned True.
    """
    files: dict[str, FileSummary] = {}
    for folder in folders:
        files.update(folder_summaries(folder, is_stopped, is_excluded, may_parse))
    return Index(files)


def is_small(
    folders: Iterable[str], is_stopped: IsStopped = never_stop, is_excluded: IsExcluded = exclude_nothing
) -> bool:
    """Return whether reading the files takes less time than starting a process.

    Raises:
        StoppedError: ``is_stopped`` returned True.
    """
    size = 0
    for path in (path for folder in folders for path in _files(folder, is_stopped, is_excluded)):
        with contextlib.suppress(OSError):
            size += os.path.getsize(path)
        if size > _SMALL_BYTES:
            return False
    return True


def folder_summaries(
    folder: str,
    is_stopped: IsStopped = never_stop,
    is_excluded: IsExcluded = exclude_nothing,
    may_parse: MayParse = parse_all,
) -> Iterator[tuple[str, FileSummary]]:
    """Yield the name and summary of each program below a folder.

    At the end the summaries are written to the cache.

    Args:
        may_parse: called before a file is parsed that is not in the cache. A file that is not parsed is left out.

    Raises:
        StoppedError: ``is_stopped`` returned True.
    """
    cache, skipped = IndexCache(folder), SkipCache(folder)
    known = cache.read()
    digests: dict[str, str] = {}
    new = False
    for path, data in _relevant_files(_files(folder, is_stopped, is_excluded), skipped):
        digest = content_digest(data)
        for name, key, text in _programs(path, digest, data):
            if key not in known:
                if not may_parse(path):
                    continue
                known[key] = (
                    _summary_of_file(path, data) if text is None else file_summary_of(Document("", path, None, text))
                )
                new = True
            digests[name] = key
            summary = known[key]
            if summary is not None:
                yield name, summary
    if new or len(known) > 2 * len(digests):
        cache.write(known, digests.values())
    skipped.write()


def _programs(path: str, digest: str, data: bytes) -> Iterator[tuple[str, str, str | None]]:
    """Yield the name, cache key and text of each program in a file.

    The text is None where the whole file is the program.
    """
    if not path.endswith(SUFFIX):
        yield path, digest, None
        return
    for line, text in code_blocks(data.decode("utf-8", "replace")):
        yield block_name(path, line), f"{digest}#{line}", text


def _relevant_files(paths: Iterable[str], skipped: SkipCache) -> Iterator[tuple[str, bytes]]:
    """Yield the relevant files with their contents.

    A file is relevant if it may define models, or if it imports a file that may.
    """
    module_names: set[str] = set()
    imports: dict[str, frozenset[str]] = {}
    for path in paths:
        names = skipped.imports_of(path)
        if names is None:
            found = _content(path)
            if found is None:
                continue
            data, state = found
            if _is_relevant(path, data):
                module_names |= {os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))}
                yield path, data
                continue
            names = imported_modules(data) if path.endswith(".py") else frozenset()
            skipped.add(path, state, names)
        imports[path] = names
    for path, names in imports.items():
        found = None if names.isdisjoint(module_names) else _content(path)
        if found is not None:
            yield path, found[0]


def file_summaries(path: str) -> dict[str, FileSummary | None]:
    """Return the summary of each program in a file as it is on disk, by name.

    The summary is None for a file that is irrelevant, unreadable or does not parse.
    """
    found = _content(path)
    if found is None or is_notebook(path):
        # A notebook counts only while it is open, when there is a text of it that can be traced.
        return {path: None}
    data, _ = found
    if path.endswith(SUFFIX):
        return {
            name: file_summary_of(Document("", path, None, text or "")) for name, _, text in _programs(path, "", data)
        }
    return {path: _summary_of_file(path, data)}


def _files(folder: str, is_stopped: IsStopped, is_excluded: IsExcluded) -> Iterable[str]:
    """Yield the real paths of the Python and Markdown files below a folder."""
    root = os.path.realpath(folder)
    for number, path in enumerate(files_below(root, (".py", SUFFIX), is_stopped, is_excluded)):
        if number >= _MOST_FILES:
            return
        # Linked folders are not entered, so only the file itself can be a link.
        yield os.path.realpath(path) if os.path.islink(path) else path


def _content(path: str) -> tuple[bytes, FileState] | None:
    """Return the content of a file and its state on disk before it was read."""
    try:
        with open(path, "rb") as file:
            state = FileState.of(os.fstat(file.fileno()))
            data = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return (data, state) if len(data) <= _MOST_BYTES else None


def _is_relevant(path: str, data: bytes) -> bool:
    # A package's ``__init__.py`` may pass on models of its modules without naming torch.
    return may_define_models(data) or os.path.basename(path) == "__init__.py"


def _summary_of_file(path: str, data: bytes) -> FileSummary | None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
    return file_summary_of(Document("", path, None, text))


def content_digest(data: bytes) -> str:
    """Return the digest that identifies the content of a file in the cache."""
    return blake2b(data, digest_size=16).hexdigest()


class IndexCache:
    """Cache of the summaries of one workspace folder, by content of the files.

    A workspace that was opened before is thus known at once.
    """

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._file = IndexFile("index", root, folder)

    def read(self) -> dict[str, FileSummary | None]:
        """Return the summaries by digest of the content; None for what does not parse."""
        return self._file.read(_summary_from_json)

    def write(self, summaries: Mapping[str, FileSummary | None], digests: Iterable[str]) -> None:
        """Replace the stored summaries by those of the given digests."""
        self._file.write(
            {digest: each.to_json() if (each := summaries[digest]) is not None else None for digest in set(digests)}
        )


def _summary_from_json(data: Any) -> FileSummary | None:
    return None if data is None else FileSummary.from_json(data)
