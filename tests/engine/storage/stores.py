"""Everything that fxlsp stores, each with something old in it and a write of something new."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fxlsp.engine.index.scan import IndexCache
from fxlsp.engine.index.skip_cache import FileState, SkipCache
from fxlsp.engine.storage.trusted_folders import TrustedFolders
from fxlsp.engine.storage.user_choices_file import ChoiceKey, InvalidFileError, UserChoicesFile
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.text.documents import Document

MODEL = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def forward(self, x): return x\n"
OLD, NEW = ChoiceKey("recipes", "net.py", "Old"), ChoiceKey("recipes", "net.py", "New")
ENTRY = {"recipe": {"init": "Net()", "inputs": None, "source": "comment"}, "comments": []}


class Choices:
    """Choices of one folder, with an old decision that a failing write must not lose."""

    def __init__(self, folder: Path) -> None:
        self.file = UserChoicesFile("/project", folder)
        self.path = self.file.path
        self.file.write({OLD: ENTRY})

    def write(self) -> None:
        self.file.write({NEW: ENTRY})

    def is_old(self) -> bool:
        return self.file.read() == {OLD: ENTRY}

    def is_new(self) -> bool:
        return self.file.read() == {OLD: ENTRY, NEW: ENTRY}

    def is_nothing(self) -> bool:
        try:
            return self.file.read() == {}
        except InvalidFileError:
            return True


class Trusted:
    """Trusted folders."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self.file = TrustedFolders(folder)
        self.path = self.file.path
        self.file.add(["/old"])

    def write(self) -> None:
        self.file.add(["/new"])

    def is_old(self) -> bool:
        return self.file.read() == {"/old"}

    def is_new(self) -> bool:
        return self.file.read() == {"/old", "/new"}

    def is_nothing(self) -> bool:
        return self.file.read() == frozenset()


class Cached:
    """Cache of an index."""

    def __init__(self, folder: Path) -> None:
        self.file = IndexCache("/project", folder)
        self.summary = file_summary_of(Document("", "/project/net.py", None, MODEL))
        self.file.write({"old": self.summary}, ["old"])
        (self.path,) = folder.iterdir()

    def write(self) -> None:
        self.file.write({"new": self.summary}, ["new"])

    def is_old(self) -> bool:
        return self.file.read() == {"old": self.summary}

    def is_new(self) -> bool:
        return self.file.read() == {"new": self.summary}

    def is_nothing(self) -> bool:
        return self.file.read() == {}


class Skipped:
    """Cache of the files that do not concern torch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cache"
        self.old, self.new = folder / "old.py", folder / "new.py"
        for path in (self.old, self.new):
            path.write_text("import os\n")
            os.utime(path, (1, 1))
        self._write(self.old)
        (self.path,) = self.folder.iterdir()

    def _write(self, path: Path) -> None:
        cache = SkipCache("/project", self.folder)
        cache.add(str(path), FileState.of(path.stat()), frozenset({"os"}))
        cache.write()

    def write(self) -> None:
        self._write(self.new)

    def _known(self) -> list[bool]:
        cache = SkipCache("/project", self.folder)
        return [cache.imports_of(str(path)) == frozenset({"os"}) for path in (self.old, self.new)]

    def is_old(self) -> bool:
        return self._known() == [True, False]

    def is_new(self) -> bool:
        return self._known() == [False, True]

    def is_nothing(self) -> bool:
        return self._known() == [False, False]


Stored = Choices | Trusted | Cached | Skipped
STORES: list[Callable[[Path], Stored]] = [Choices, Trusted, Cached, Skipped]
