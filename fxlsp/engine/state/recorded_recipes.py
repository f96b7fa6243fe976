"""Recipes for the models of one file from recordings of programs that used them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace

from fxlsp.engine.storage.recordings import recordings_around
from fxlsp.recording.recording_file import RecordedCall, RecordedInstance, RecordingError, read_recording
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import ModelClass
from fxlsp.source.recipes.recipes import FoundRecipe, RecordedRun
from fxlsp.source.recipes.recorded_signature import misfit
from fxlsp.source.recipes.recorded_values import NotWritableError, write_arguments
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_MOST_RECIPES = 16

_log = logging.getLogger("fxlsp.engine")


class Recordings:
    """Recordings that were read, each again when its file has changed. Any thread may use it."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[tuple[int, int] | None, tuple[RecordedInstance, ...]]] = {}
        """By path: time and size of the file when it was read, and what it has recorded."""

    def recipes_for(self, document: Document, model: ModelClass) -> list[FoundRecipe]:
        """Return the recorded recipes of a class, complete ones of the newest run first.

        Those that do not fit the present text have an ``error``.
        """
        if model.local or not os.path.isabs(document.path):
            return []
        found: dict[Recipe, FoundRecipe] = {}
        for path, folder in recordings_around(document.path):
            file = os.path.relpath(os.path.realpath(document.path), folder).replace(os.sep, "/")
            for instance in self._instances(path):
                if (instance.file, instance.name) == (file, model.qualname):
                    for each in _recipes(document, model, instance, folder):
                        found.setdefault(each.recipe, each)
        return sorted(found.values(), key=_rank)[:_MOST_RECIPES]

    def have_changed(self) -> bool:
        """Return whether a file that was looked for is another one by now."""
        return any(_version(path) != version for path, (version, _) in tuple(self._read.items()))

    def _instances(self, path: str) -> tuple[RecordedInstance, ...]:
        version = _version(path)
        known = self._read.get(path)
        if known is None or known[0] != version:
            known = self._read[path] = (version, () if version is None else _read_or_warn(path))
        return known[1]


def _version(path: str) -> tuple[int, int] | None:
    """Return the time and size of a file; None if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


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
        text = f"{model.qualname}({write_arguments(instance.init, instance.file)})"
    except NotWritableError:
        return "", None
    return text, misfit(document, model.qualname, "__init__", instance.init)


def _inputs(call: RecordedCall, home: str) -> str | None:
    try:
        return write_arguments({"args": list(call.args), "kwargs": call.kwargs}, home)
    except NotWritableError:
        return None


def _in_mode(init: str, call: RecordedCall) -> str:
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
