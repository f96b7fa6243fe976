"""Recipes for the models of one file from recordings of programs that used them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fxlsp.engine.storage.recordings import recordings_around
from fxlsp.recording.recording_file import CallNote, RecordedInstance, RecordingError, read_recording
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import ModelClass
from fxlsp.source.recipes.recipes import FoundRecipe, RecordedRun
from fxlsp.source.recipes.recorded_signature import misfit
from fxlsp.source.recipes.recorded_values import NotMadeAgainError, recorded_arguments
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_MOST_RECIPES = 16

_Version = tuple[int, int, int]

_log = logging.getLogger("fxlsp.engine")


class Recordings:
    """Recordings that were read, each once until :meth:`take_changes`. Any thread may use it."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Version | None, tuple[RecordedInstance, ...]]] = {}
        """By path: the file as it was before it was read, and what it has recorded."""
        self._places: dict[str, tuple[tuple[str, str, str], ...]] = {}
        """By path of a file, since they are looked for at each edit."""

    def recipes_for(self, document: Document, models: Sequence[ModelClass]) -> dict[str, list[FoundRecipe]]:
        """Return the recorded recipes of the classes of a file by name, complete ones of the newest run first.

        Those that do not fit the present text have an ``error``.
        """
        if not os.path.isabs(document.path):
            return {}
        by_name = {model.qualname: model for model in models}
        found: dict[str, dict[Recipe, FoundRecipe]] = {}
        for path, folder, file in self._places_of(document.path):
            for instance in self._instances(path):
                model = by_name.get(instance.name)
                if instance.file == file and model is not None:
                    recipes = found.setdefault(instance.name, {})
                    for each in _recipes(document, model, instance, folder):
                        recipes.setdefault(each.recipe, each)
        return {name: sorted(recipes.values(), key=_rank)[:_MOST_RECIPES] for name, recipes in found.items()}

    def import_folders(self, path: str) -> tuple[str, ...]:
        """Return the folders from which recorded programs imported a file and what it imports, the newest run first.

        Modules beside a script are found from its folder, which nothing in the text of the others says.
        """
        if not os.path.isabs(path):
            return ()
        folders = {
            os.path.normpath(os.path.join(folder, each)): None
            for recording, folder, file in self._places_of(path)
            for instance in self._instances(recording)
            if instance.file == file
            for each in instance.folders
        }
        return tuple(filter(os.path.isdir, folders))

    def _places_of(self, path: str) -> tuple[tuple[str, str, str], ...]:
        """Return where recordings of a file may be, each with its folder and the name that the file has in it."""
        known = self._places.get(path)
        if known is None:
            real = os.path.realpath(path)
            known = self._places[path] = tuple(
                (recording, folder, os.path.relpath(real, folder).replace(os.sep, "/"))
                for recording, folder in recordings_around(path)
            )
        return known

    def reads_nothing_for(self, path: str) -> bool:
        """Return whether the recipes of a file are known without reading a recording."""
        if not os.path.isabs(path):
            return True
        places = [place for place, _, _ in self._places_of(path)]
        return all(place in self._read or _version(place) is None for place in places)

    def take_changes(self) -> bool:
        """Return whether a recording that was looked for has changed since; it is read again when it is needed."""
        changed = [path for path, (version, _) in tuple(self._read.items()) if _version(path) != version]
        for path in changed:
            self._read.pop(path, None)
        return bool(changed)

    def _instances(self, path: str) -> tuple[RecordedInstance, ...]:
        known = self._read.get(path)
        if known is None:
            # A file that is replaced while it is read has another version than this one, and is read again.
            version = _version(path)
            known = self._read[path] = (version, () if version is None else _read_or_warn(path))
        return known[1]


def _version(path: str) -> _Version | None:
    """Return the time, size and identity of a file; None if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_or_warn(path: str) -> tuple[RecordedInstance, ...]:
    try:
        return read_recording(path)
    except FileNotFoundError:
        return ()
    except RecordingError as error:
        _log.warning("%s", error)
        return ()


def _recipes(document: Document, model: ModelClass, instance: RecordedInstance, folder: str) -> Iterator[FoundRecipe]:
    """Yield a recipe for each recorded call of an instance; without inputs if it has none that can be written."""
    init, stale = _init(document, model, instance)
    calls = [(call, inputs) for call in instance.calls if (inputs := _inputs(call, instance.file)) is not None]
    run = RecordedRun(instance.source, instance.time)
    for call, inputs in calls:
        given = {"args": call.args, "kwargs": call.kwargs}
        old = stale or misfit(document, model.qualname, "forward", given)
        recipe = Recipe(_in_mode(init, call) if init else "", inputs, "recording")
        yield _found(recipe, call.at, model, folder, run, old)
    if init and not calls:
        yield _found(Recipe(init, None, "recording"), instance.at, model, folder, run, stale)


def _init(document: Document, model: ModelClass, instance: RecordedInstance) -> tuple[str, str | None]:
    """Return the construction, "" if it cannot be written, and why it does not fit the present text."""
    if instance.init is None:
        return "", None
    try:
        text = f"{model.qualname}({recorded_arguments(instance.init, instance.file)})"
    except NotMadeAgainError:
        return "", None
    return text, misfit(document, model.qualname, "__init__", instance.init)


def _inputs(call: CallNote, home: str) -> str | None:
    # A trace runs without autocast, which would convert for each operation what it has rounded before.
    rounded = None if call.autocast is None else {call.autocast.rpartition(" ")[2]: call.dtype or "float32"}
    try:
        return recorded_arguments({"args": call.args, "kwargs": call.kwargs}, home, rounded)
    except NotMadeAgainError:
        return None


def _in_mode(init: str, call: CallNote) -> str:
    """Return the construction of a model as it was when it was called."""
    if call.dtype is not None and call.dtype.isidentifier():
        init = f"{init}.to(torch.{call.dtype})"
    return init if call.training else f"{init}.eval()"


def _found(
    recipe: Recipe, at: str | None, model: ModelClass, folder: str, run: RecordedRun, stale: str | None
) -> FoundRecipe:
    """Return a recipe with the line of the program that made the call, if the recording has it."""
    file, _, number = (at or "").rpartition(":")
    path = os.path.join(folder, file) if file else None
    span = model.name
    if path is not None and number.isdecimal() and os.path.isfile(path):
        span = Span(int(number), 1, int(number), 1)
    else:
        path = None
    found = FoundRecipe(recipe, span, path, recorded=run)
    return found if stale is None else replace(found, error=f"the recording is older than the code: {stale}")


def _rank(found: FoundRecipe) -> tuple[bool, bool]:
    """Return the sort key: those that fit the present text first, then complete ones."""
    return found.error is not None, found.recipe.inputs is None or not found.recipe.init
