"""File with the folders whose code the user allows to run.

{"version": 1, "folders": ["/home/me/project"]}

Only a file that the user alone can change is believed: another writer could run code as the user.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from fxlsp.engine.storage.folder_lock import folder_lock
from fxlsp.engine.storage.user_dirs import state_folder, write_atomically

_VERSION = 1
_MOST_BYTES = 2**22
"""A larger file was not written by fxlsp."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger("fxlsp.engine")


class UntrustworthyFileError(Exception):
    """Error for a file that others can change, or that fxlsp did not write."""


class TrustedFolders:
    """The folders that the user trusts, for all later sessions."""

    def __init__(self, folder: Path | None = None) -> None:
        """``folder`` is that of the file; None is the user's state folder."""
        self.path = (folder or state_folder()) / "trusted.json"

    def read(self) -> frozenset[str]:
        """Return the real paths of the trusted folders.

        None are trusted, with a warning in the log, if the file cannot be read or is not to be believed.
        """
        try:
            return self._read()
        except UntrustworthyFileError as error:
            _log.warning("No folder is trusted: %s: %s", self.path, error)
            return frozenset()

    def add(self, folders: Iterable[str]) -> None:
        """Trust some folders.

        Raises:
            OSError: the file cannot be written.
        """
        self._change(lambda known: known | {os.path.realpath(folder) for folder in folders})

    def remove(self, folders: Iterable[str]) -> None:
        """Trust some folders no longer, nor any folder that they are in or that is in them.

        Raises:
            OSError: the file cannot be written.
        """
        removed = [os.path.realpath(folder) for folder in folders]
        self._change(
            lambda known: {each for each in known if not any(is_below(each, r) or is_below(r, each) for r in removed)}
        )

    def _change(self, change: Callable[[frozenset[str]], frozenset[str] | set[str]]) -> None:
        with folder_lock(self.path.parent):
            try:
                known, is_believed = self._read(), True
            except UntrustworthyFileError:
                # What others may have written is not written again.
                known, is_believed = frozenset(), False
            changed = change(known)
            if changed != known or not is_believed:
                self._close_to_others()
                text = json.dumps({"version": _VERSION, "folders": sorted(changed)}, indent=1) + "\n"
                write_atomically(self.path, text, durable=True)

    def _read(self) -> frozenset[str]:
        """Return the folders in the file.

        Raises:
            UntrustworthyFileError: it cannot be read, others can change it, or fxlsp did not write it.
        """
        try:
            with open(self.path, "rb", opener=_open_itself) as file:
                _check_owner(os.fstat(file.fileno()), "the file")
                _check_owner(os.stat(self.path.parent), "its folder")
                return _folders(file.read(_MOST_BYTES + 1))
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        except OSError as error:
            raise UntrustworthyFileError(f"it cannot be read: {error.strerror or error}") from error

    def _close_to_others(self) -> None:
        """Let the user alone change the folder, which is fxlsp's own: an older version may have made it."""
        folder = self.path.parent
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if hasattr(os, "geteuid") and os.stat(folder).st_mode & _OTHERS_WRITE:
                os.chmod(folder, stat.S_IRWXU)


def _open_itself(path: str, flags: int) -> int:
    """Open a file, not one that it links to, and without waiting: it may be a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def is_below(path: str, folder: str) -> bool:
    """Return whether a real path is a folder or in it, at any depth."""
    return os.path.join(path, "").startswith(os.path.join(folder, ""))


def _check_owner(status: os.stat_result, what: str) -> None:
    """
    Raises:
        UntrustworthyFileError: users other than this one and root can change it.
    """
    # Windows has no such modes; there the user's folder is closed to others.
    if hasattr(os, "geteuid"):
        if status.st_uid not in (0, os.geteuid()):
            raise UntrustworthyFileError(f"{what} belongs to another user")
        if status.st_mode & _OTHERS_WRITE:
            raise UntrustworthyFileError(f"other users can change {what}")


def _folders(data: bytes) -> frozenset[str]:
    """Return the folders in the content of a file.

    Raises:
        UntrustworthyFileError: fxlsp did not write it.
    """
    try:
        found = json.loads(data.decode("utf-8")) if len(data) <= _MOST_BYTES else None
    except (ValueError, RecursionError) as error:
        raise UntrustworthyFileError("it is damaged") from error
    version = found.get("version") if isinstance(found, dict) else None
    folders = found.get("folders") if isinstance(found, dict) else None
    if type(version) is not int or version != _VERSION or not isinstance(folders, list):
        raise UntrustworthyFileError("it is damaged, or of another version of fxlsp")
    if not all(isinstance(each, str) and os.path.isabs(each) and os.path.normpath(each) == each for each in folders):
        raise UntrustworthyFileError("it names something other than folders")
    return frozenset(folders)
