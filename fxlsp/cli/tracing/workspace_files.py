"""The files of the workspace around those that a command is about, each read once."""

from __future__ import annotations

from collections.abc import Iterable

from fxlsp.cli.tracing.exclusions import is_excluded
from fxlsp.cli.tracing.targets import index_folders
from fxlsp.engine.index.scan import read_index
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes
from fxlsp.source.recipes.markdown_blocks import read_source
from fxlsp.source.text.documents import Document


class WorkspaceFiles:
    """What other files say about a model; all are taken as they were when they were first read."""

    def __init__(self, paths: Iterable[str]) -> None:
        """``paths`` are the files and folders that the command is about."""
        self._index = read_index(index_folders(paths), is_excluded=is_excluded)
        self._documents: dict[str, Document | None] = {}

    def document(self, path: str) -> Document:
        """
        Raises:
            OSError, UnicodeDecodeError, SyntaxError: as :func:`~fxlsp.source.recipes.markdown_blocks.read_source`.
        """
        document = self._documents.get(path)
        if document is None:
            document = self._documents[path] = read_source(path).program.with_bases(self._index.imported_bases(path))
        return document

    def elsewhere(self) -> CrossFileRecipes:
        """What to ask about the models of one file."""
        return CrossFileRecipes(self._index, self._read)

    def _read(self, path: str) -> Document | None:
        try:
            return self.document(path)
        except (OSError, UnicodeDecodeError, SyntaxError):
            return None
