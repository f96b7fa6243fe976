"""Check of the recipes in settings for models that do not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.settings.pyproject import Pyproject
from fxlsp.engine.settings.settings import SettingProblem
from fxlsp.engine.state.snapshot import inside
from fxlsp.report.codes import BAD_RECIPE
from fxlsp.report.suggestions import did_you_mean
from fxlsp.source.text.class_kind import ClassKind


@lru_cache(maxsize=4)
def unknown_models(pyproject: Pyproject, index: Index) -> tuple[SettingProblem, ...]:
    """Return problems for configured recipes whose model is not in the workspace.

    Each is located at the key of the recipe.

    Args:
        index: index of the workspace folder that contains the file. About other folders only what is certain is
            reported.
    """
    table = pyproject.table.get("recipes")
    keys = table if isinstance(table, dict) else {}
    found = ((key, _mistake_in(key, pyproject.folder, index)) for key in keys)
    return tuple(
        SettingProblem(f"tool.fxlsp.recipes: {message}", pyproject.location_of_key("recipes", key), BAD_RECIPE)
        for key, message in found
        if message is not None
    )


def _mistake_in(key: str, folder: str, index: Index) -> str | None:
    path, colon, name = key.rpartition(":")
    if not colon:
        return (
            None if _is_anywhere(name, index) else f"no file of the workspace defines {name}{_suggestion(name, index)}"
        )
    real = os.path.realpath(os.path.join(folder, path))
    if not os.path.isfile(real):
        return f"there is no file {path}"
    summary = index.files.get(real)
    if summary is None or not inside(real, folder) or name in summary.by_name or name in summary.assigned:
        # A file that is not in the index may define anything.
        return None
    return f"{path} defines no {name}{_suggestion(name, index, real)}"


def _is_anywhere(name: str, index: Index) -> bool:
    return any(name in summary.by_name or name in summary.assigned for summary in index.files.values())


def _suggestion(name: str, index: Index, path: str | None = None) -> str:
    """Return a hint at the model with the most similar name, "" if there is none."""
    models = [place.name for place in _models(index) if path in (None, place.path)]
    return did_you_mean(name, models)


def _models(index: Index) -> Iterator[SymbolId]:
    for path, summary in index.files.items():
        places = (SymbolId(path, each.name) for each in summary.definitions)
        yield from (place for place in places if index.kind_of(place) is ClassKind.MODULE)
