"""Every setting with its value and origin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.cli.output.excerpts import location_text
from fxlsp.engine.settings.pyproject import Pyproject
from fxlsp.engine.settings.settings import EDITOR_SECONDS, SettingProblem, Settings
from fxlsp.engine.storage.trusted_folders import TrustedFolders, is_below
from fxlsp.report.locations import Location
from fxlsp.report.serialization import JsonObject

_TRUST = "FXLSP_TRUST"


@dataclass(frozen=True, slots=True)
class SettingRow(JsonObject):
    """One setting, its value and where the value comes from."""

    key: str
    value: Any
    origin: str


def setting_rows(settings: Settings, pyproject: Pyproject, folder: str) -> list[SettingRow]:
    """Return one row for each setting, and for each entry of those that are tables.

    Args:
        folder: real path of the folder whose settings they are.
    """
    found = [SettingRow(key, value, _origin(key, settings, pyproject)) for key, value in settings.values()]
    return [_trusted(row, folder) if row.key == "trusted" else row for row in found]


def _trusted(row: SettingRow, folder: str) -> SettingRow:
    """Return the row of the setting ``trusted``.

    Trust comes from the user in an editor; a command is run by its user on purpose, and needs none.
    """
    if os.environ.get(_TRUST) == "1":
        return SettingRow(row.key, True, f"environment: {_TRUST}=1")
    stored = TrustedFolders()
    if _TRUST not in os.environ and any(is_below(folder, each) for each in stored.read()):
        return SettingRow(row.key, True, f"{stored.path}, unless the editor decides")
    return SettingRow(row.key, row.value, "default; commands need no trust, an editor gives it")


def _origin(key: str, settings: Settings, pyproject: Pyproject) -> str:
    origin = settings.origin(key)
    if origin == "pyproject":
        location = _place(key, settings, pyproject)
        return "pyproject.toml" if location is None else location_text(location).rpartition(":")[0]
    if origin == "client":
        return "command line"
    return f"default; {EDITOR_SECONDS:g} in an editor" if key == "limits.seconds" else "default"


def _place(key: str, settings: Settings, pyproject: Pyproject) -> Location | None:
    table, _, name = key.partition(".")
    places = settings.recipe_locations.get(name, ()) if table == "recipes" else ()
    return places[0] if places else pyproject.location_of(*filter(None, (table, name)))


def settings_finding(
    pyproject: Pyproject, found: list[SettingRow], problems: Iterable[SettingProblem]
) -> Iterator[DoctorFinding]:
    """Yield the values, then the errors in them."""
    width = max(len(row.key) for row in found)
    details = tuple(f"{row.key:<{width}}  {_shown(row.value)}  ({row.origin})" for row in found)
    source = f"those of {pyproject.path} and defaults" if pyproject.table else "all are the defaults"
    yield DoctorFinding("settings", "ok", source, details)
    for problem in problems:
        where = "" if problem.location is None else f"{location_text(problem.location)}: "
        yield DoctorFinding(
            "settings", "warning", f"{where}{problem.message}", advice="what is wrong is not used: mend it"
        )


def _shown(value: Any) -> str:
    if value is None or value == [] or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
