"""Files of a workspace: which of them a command reads, and their recipes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice

from fxlsp.cli.exit_codes import UsageError
from fxlsp.cli.tracing.targets import index_folders
from fxlsp.engine.index.python_files import files_below, never_stop
from fxlsp.engine.index.scan import read_index
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.settings.settings import read_settings
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.report.frontends import FrontendName, OtherFrontend
from fxlsp.source.models.frontend_usage import frontend_uses, may_use_frontends
from fxlsp.source.recipes.markdown_blocks import read_source
from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.notebooks.ipynb import SUFFIX

_MOST_FILES = 20_000
"""Files in which uses of a front end are looked for, as many as the index reads below one folder."""
_ONNX_BY_EXPORT = (2, 9)
"""First torch whose ``torch.onnx.export`` uses torch.export unless its argument ``dynamo`` is False."""


def python_files(paths: Sequence[str]) -> Iterator[str]:
    """Yield the Python files and notebooks at and below ``paths``, each once.

    They are real paths. A file named in ``paths`` is always included, other files unless the settings exclude them.

    Raises:
        UsageError: a path does not exist.
    """
    seen: set[str] = set()
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"there is no file or folder {path}")
        for found in files_below(path, (".py", SUFFIX), never_stop, is_excluded) if os.path.isdir(path) else [path]:
            real = os.path.realpath(found)
            if real not in seen:
                seen.add(real)
                yield real


def is_excluded(path: str) -> bool:
    """Return whether the settings exclude a file, or all of a folder.

    The settings are those of the folder around it.

    Args:
        path: real and absolute; that of a folder ends with a separator.
    """
    return _exclusion(os.path.dirname(path.rstrip(os.sep)))(path)


@cache
def _exclusion(folder: str) -> Exclusion:
    return read_settings(folder)[0].exclude


def used_frontends(paths: Sequence[str], asked: Collection[FrontendName], torch: str) -> frozenset[OtherFrontend]:
    """Return which of some front ends are used by files at and around ``paths``: those of their projects.

    Files that cannot be read use none.

    Args:
        paths: the files and folders that the command is about.
        asked: the front ends.
        torch: version of the project's torch, such as ``2.14.1+cpu``.
    """
    version = re.match(r"(\d+)\.(\d+)", torch)
    onnx_by_export = version is not None and (int(version[1]), int(version[2])) >= _ONNX_BY_EXPORT
    wanted = {name for name in asked if name != "fx"}
    found: set[OtherFrontend] = set()
    for path in islice(python_files([*paths, *index_folders(paths)]), _MOST_FILES) if wanted else ():
        found |= wanted & _frontends_of(path, onnx_by_export)
        if found == wanted:
            break
    return frozenset(found)


def _frontends_of(path: str, onnx_by_export: bool) -> frozenset[OtherFrontend]:
    with suppress(OSError, UnicodeDecodeError, SyntaxError), open(path, "rb") as file:
        if may_use_frontends(file.read()):
            return frontend_uses(read_document(path).program.text, onnx_by_export)
    return frozenset()


class WorkspaceFiles:
    """Files that may contain recipes of a model, each read once.

    All are taken as they were when they were first read.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Read the index of the projects around ``paths``.

        Args:
            paths: the files and folders that the command is about.
        """
        self._index = read_index(index_folders(paths), is_excluded=is_excluded)
        self._documents: dict[str, Document | None] = {}
        self.recordings = Recordings()

    def document(self, path: str) -> Document:
        """Return the document of a file, with the base classes of other files.

        Raises:
            OSError, UnicodeDecodeError, SyntaxError: as :func:`~fxlsp.source.recipes.markdown_blocks.read_source`.
        """
        document = self._documents.get(path)
        if document is None:
            document = self._documents[path] = read_source(path).program.with_external_bases(
                self._index.external_bases(path)
            )
        return document

    def elsewhere(self) -> CrossFileRecipes:
        """Return the recipes of other files, for the models of one file."""
        return CrossFileRecipes(self._index, self._read)

    def _read(self, path: str) -> Document | None:
        try:
            return self.document(path)
        except (OSError, UnicodeDecodeError, SyntaxError):
            return None
