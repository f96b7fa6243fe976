"""Storage of the user's choices of recipes and instances beyond the session."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.pinned_recipes import PinnedRecipe
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import inside
from fxlsp.engine.storage.user_choices_file import ChoiceKey, InvalidFileError, UserChoicesFile

_PAUSE = 1.0
"""Seconds from a choice to its writing: the recipe of a choice may be edited, which changes it with each keystroke."""

_RETRY_PAUSE = 30.0
"""Seconds until a write that failed is tried again: the disk may have been full."""

_Chosen = tuple[str, SymbolId]
"""Kind of a choice, and the model or class that it is for."""

_log = logging.getLogger("fxlsp.engine")


class UserChoices:
    """Reads choices when a folder is added, and writes them on a thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stored: dict[_Chosen, Any] = {}
        """Content of the files, as far as this session has read or written it."""
        self._folders: set[str] = set()
        self._failed: frozenset[str] = frozenset()
        """Folders whose file could not be written the last time."""
        self._writing: asyncio.Task[None] | None = None
        self._is_closed = False

    def read_folders(self) -> None:
        """Read the choices of the session's new folders.

        Choices made in this session have precedence.
        """
        for folder in (each.path for each in self._session.folders):
            if folder not in self._folders:
                self._folders.add(folder)
                self._read(folder)

    def schedule_write(self) -> None:
        """Write the choices after a pause if they have changed."""
        if self._writing is None and not self._is_closed and self._changes():
            self._writing = asyncio.create_task(self._write_later())

    async def close(self) -> None:
        """Write all choices that have not been written."""
        self._is_closed = True
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self._write()

    def _read(self, folder: str) -> None:
        file = UserChoicesFile(folder)
        try:
            entries = file.read()
        except InvalidFileError as error:
            _log.warning("What was chosen before in %s is not known: %s: %s", folder or "no folder", file.path, error)
            return
        for key, entry in entries.items():
            symbol = SymbolId(key.path(folder), key.name)
            try:
                self._take(key.kind, symbol, entry)
            except (KeyError, TypeError, AttributeError):
                _log.warning("What was chosen for %s of %s is not known: %s", symbol.name, symbol.path, file.path)
            else:
                self._stored[key.kind, symbol] = entry

    def _take(self, kind: str, symbol: SymbolId, entry: Any) -> None:
        """Add a stored choice to the session.

        Raises:
            KeyError, TypeError, AttributeError: the entry is not valid for this kind.
        """
        if kind == "recipes":
            pinned_recipe = PinnedRecipe.from_json(entry)
            # Choices are dictionary values that are compared later: an unhashable member, such as a list in place of a
            # text, must fail here.
            hash(pinned_recipe)
            self._session.restore_pinned_recipe(symbol, pinned_recipe)
        else:
            self._session.restore_instance(symbol, ForwardInstance.from_json(entry))

    async def _write_later(self) -> None:
        pause = _PAUSE
        try:
            while self._changes():
                await asyncio.sleep(pause)
                pause = _PAUSE if await self._write() else _RETRY_PAUSE
        finally:
            self._writing = None

    async def _write(self) -> bool:
        """Write what has changed; return whether all of it could be written."""
        changes = self._changes()
        if not changes:
            return True
        by_folder = self._by_folder(changes)
        # Not on the engine's threads, which may be busy at the end of the session.
        errors = await asyncio.to_thread(_write, {folder: dict(each.values()) for folder, each in by_folder.items()})
        for folder, each in by_folder.items():
            if folder not in errors:
                self._stored.update((chosen, entry) for chosen, (_, entry) in each.items())
            elif folder not in self._failed:
                _log.warning("What you chose holds for this session alone: %s", errors[folder])
        self._failed = frozenset(errors)
        return not errors

    def _changes(self) -> dict[_Chosen, Any]:
        """Return the entries that differ from those in the files; None for removed ones."""
        session = self._session
        chosen: dict[_Chosen, Any] = {
            ("recipes", symbol): pinned_recipe.to_json() for symbol, pinned_recipe in session.pinned_recipes.items()
        }
        chosen |= {("instances", symbol): instance.to_json() for symbol, instance in session.instances.items()}
        return {
            each: chosen.get(each)
            for each in chosen.keys() | self._stored.keys()
            if chosen.get(each) != self._stored.get(each)
        }

    def _by_folder(self, changes: Mapping[_Chosen, Any]) -> dict[str, dict[_Chosen, tuple[ChoiceKey, Any]]]:
        """Return the entry of each change and its key in the file, by folder."""
        found: dict[str, dict[_Chosen, tuple[ChoiceKey, Any]]] = defaultdict(dict)
        for (kind, symbol), entry in changes.items():
            folder = self._session.folder_of(symbol.path).path
            within = folder and inside(symbol.path, folder)
            file = os.path.relpath(symbol.path, folder) if within else symbol.path
            found[folder][kind, symbol] = ChoiceKey(kind, file, symbol.name), entry
        return found


def _write(changes: Mapping[str, Mapping[ChoiceKey, Any]]) -> dict[str, str]:
    """Write the changes of each folder; return why those that failed did."""
    errors = {}
    for folder, entries in changes.items():
        file = UserChoicesFile(folder)
        # A buffer without a file is another one in the next session.
        entries_to_write = {
            key: each for key, each in entries.items() if os.path.isdir(os.path.dirname(key.path(folder)))
        }
        try:
            if entries_to_write:
                file.write(entries_to_write)
        except OSError as error:
            errors[folder] = f"{file.path} cannot be written: {error}"
    return errors
