"""The settings of a folder, from defaults, ``pyproject.toml`` and client.

Of each key, the value of the editor or command line counts, else that of ``[tool.fxlsp]``, else the default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain, repeat
from typing import Any, Literal, get_args

from fxlsp.engine.settings import value_checks as checks
from fxlsp.engine.settings.exclusion import NOTHING, Exclusion
from fxlsp.engine.settings.pyproject import Pyproject, read_pyproject
from fxlsp.report.code_records import Severity
from fxlsp.report.frontends import OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.sizes import ANY_SIZES, Sizes
from fxlsp.report.suggestions import did_you_mean
from fxlsp.report.tracer_choice import TORCH_FX, ObjectReference, TracerChoice
from fxlsp.wire.messages import Limits

SettingOrigin = Literal["default", "pyproject", "client"]
SizeStyle = Literal["symbolic", "numbers", "both"]
Level = Severity | Literal["off"]

EDITOR_SECONDS = 10.0
COMMAND_LINE_SECONDS = 60.0
_LIMITS = Limits()
"""Defaults of all limits but that of time."""


@dataclass(frozen=True, slots=True)
class HintKinds:
    """Kinds of inlay hints to show.

    The setting ``hints`` as a boolean switches all of them, and leaves ``sizes``.
    """

    shapes: bool = True
    """At the end of a line: the shape of its last expression."""
    arguments: bool = True
    """After the parameters of ``forward``: the shapes of the inputs."""
    dtypes: bool = True
    """Beside a shape: its dtype, where it is not that of most values of the model."""
    sizes: SizeStyle = "numbers"
    """Whether sizes are written as expressions of symbols, as the numbers of the trace, or as both."""

    @property
    def has_symbols(self) -> bool:
        """Whether traces have to find expressions."""
        return self.sizes != "numbers"


ALL_HINTS = HintKinds()


@dataclass(frozen=True, slots=True)
class Settings:
    """Valid settings of one folder."""

    python: str | None = None
    """Interpreter that traces; None searches for one (:mod:`fxlsp.engine.settings.interpreters`)."""
    trusted: bool = False
    """Whether code of the workspace may run. Never from ``pyproject.toml``: a workspace cannot vouch for itself."""
    hints: HintKinds = ALL_HINTS
    recipes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Expressions by ``Name`` or ``/absolute/path.py:Name``."""
    recipe_locations: Mapping[str, tuple[Location, ...]] = field(default_factory=dict)
    """Locations of the recipes of ``pyproject.toml``, by the same keys."""
    tracing: TracerChoice = TORCH_FX
    """The settings ``tracer``, ``leafModules`` and ``wrap``."""
    sizes: Sizes = ANY_SIZES
    """Sizes of guessed inputs."""
    exclude: Exclusion = NOTHING
    """Files that are ignored; syntactic features work in them once they are open."""
    problems: Literal["open", "workspace"] = "open"
    """Whether problems of open files are reported, or those of all files of the workspace."""
    retrace: Literal["type", "save"] = "type"
    """Whether a model is traced again as its text is typed, or when its file is saved."""
    frontends: tuple[OtherFrontend, ...] = ()
    """Front ends that an editor asks about each model after its trace, when the user rests."""
    record_command: str | None = None
    """Command that an editor records when its user asks for a run (``record.command``)."""
    profile: Literal["auto", "fx", "shapes"] = "auto"
    """Whether problems that concern torch.fx alone are reported as problems or as hints; ``auto`` decides by whether
    the folder uses torch.fx."""
    severities: Mapping[str, Level] = field(default_factory=dict)
    """Severity by code or beginning of codes."""
    ignore: tuple[str, ...] = ()
    """Codes and beginnings of codes that are never reported."""
    seconds: float = EDITOR_SECONDS
    """Limit of the wall time of one trace (``limits.seconds``)."""
    megabytes: int = int(_LIMITS.megabytes)
    """Limit of the resident memory of one trace (``limits.megabytes``)."""
    processes: int = _LIMITS.processes
    """Limit of the number of its processes (``limits.processes``)."""
    open_files: int = _LIMITS.open_files
    """Limit of the files that each of them has open (``limits.openFiles``)."""
    written_megabytes: float = _LIMITS.written_megabytes
    """Limit of the space of its temporary files (``limits.writtenMegabytes``)."""
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)
    """Source of each value that is not the default, by dotted key."""

    @property
    def limits(self) -> Limits:
        """The limits of one trace."""
        return Limits(self.seconds, self.megabytes, self.processes, self.open_files, self.written_megabytes)

    def values(self) -> list[tuple[str, Any]]:
        """Return every setting by its dotted key, as JSON values.

        Tables have one item per entry.
        """
        found = {
            "python": self.python,
            "trusted": self.trusted,
            **{f"hints.{kind}": getattr(self.hints, kind) for kind in _HINT_KINDS},
            "tracer": None if self.tracing.tracer is None else self.tracing.tracer.text,
            "leafModules": list(self.tracing.leaf_modules),
            "wrap": [function.text for function in self.tracing.wrap],
            **{f"sizes.{name}": getattr(self.sizes, name) for name in _SIZES},
            "exclude": list(self.exclude.patterns),
            "problems": self.problems,
            "retrace": self.retrace,
            "frontends": list(self.frontends),
            "record.command": self.record_command,
            "profile": self.profile,
            "ignore": list(self.ignore),
            "limits.seconds": self.seconds,
            "limits.megabytes": self.megabytes,
            "limits.processes": self.processes,
            "limits.openFiles": self.open_files,
            "limits.writtenMegabytes": self.written_megabytes,
        }
        recipes = [(f"recipes.{key}", list(texts)) for key, texts in self.recipes.items()]
        severities = [(f"severities.{key}", level) for key, level in self.severities.items()]
        return [*found.items(), *recipes, *severities]

    def origin(self, key: str) -> SettingOrigin:
        return self.origins.get(key, "default")

    def recipes_of(self, file: str, name: str) -> tuple[str, ...]:
        """Return the configured expressions for one model.

        Those whose key names the file have precedence over those whose key does not.
        """
        return tuple(each.text for each in self.configured(file, name))

    def configured(self, file: str, name: str) -> tuple[ConfiguredRecipe, ...]:
        """Return the configured recipes for one model, as ``recipes_of``, with locations."""
        for key in (f"{file}:{name}", name):
            texts, places = self.recipes.get(key, ()), self.recipe_locations.get(key, ())
            if texts:
                return tuple(map(ConfiguredRecipe, texts, places or (None,) * len(texts)))
        return ()


@dataclass(frozen=True, slots=True)
class ConfiguredRecipe:
    """Recipe from the settings."""

    text: str
    place: Location | None
    """Location in ``pyproject.toml``; None for a recipe of the editor or command line."""


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """Value that is skipped, and why."""

    message: str
    location: Location | None = None
    code: str = ""
    """Problem code of a recipe that is wrong; other settings have none."""


def read_settings(
    folder: str, client: Mapping[str, Any] | None = None, seconds: float = EDITOR_SECONDS
) -> tuple[Settings, tuple[SettingProblem, ...]]:
    """Return the settings of ``folder``, and the problems of values that are skipped.

    Args:
        folder: absolute path; the nearest ``pyproject.toml`` in or above it counts.
        client: values of the editor or command line, in the structure of ``[tool.fxlsp]``; null is unset.
        seconds: default of ``limits.seconds``.
    """
    return settings_of(read_pyproject(folder), folder, client, seconds)


def settings_of(
    pyproject: Pyproject, folder: str, client: Mapping[str, Any] | None = None, seconds: float = EDITOR_SECONDS
) -> tuple[Settings, tuple[SettingProblem, ...]]:
    """Return settings as :func:`read_settings` does, from a file that has been read."""
    problems: list[SettingProblem] = []
    if pyproject.error is not None:
        problems.append(SettingProblem(pyproject.error, pyproject.error_at))
    values: dict[str, Any] = {}
    origins: dict[str, SettingOrigin] = {}
    for layer in (_from_pyproject(pyproject), _from_client(client or {}, folder)):
        for entry in layer:
            if isinstance(entry, SettingProblem):
                problems.append(entry)
            else:
                key, value, origin = entry
                values[key] = value
                origins[key] = origin
    settings = _settings(values, origins, seconds)
    choice = _tracing(values, origins, pyproject)
    return replace(settings, tracing=choice, recipe_locations=_recipe_locations(pyproject, settings)), tuple(problems)


def _tracing(values: Mapping[str, Any], origins: Mapping[str, SettingOrigin], pyproject: Pyproject) -> TracerChoice:
    def named(key: str) -> tuple[ObjectReference, ...]:
        texts = values.get(key) or ()
        places = pyproject.locations_of_strings(key) if origins.get(key) == "pyproject" else ()
        return tuple(map(ObjectReference, (texts,) if isinstance(texts, str) else texts, chain(places, repeat(None))))

    return TracerChoice(next(iter(named("tracer")), None), values.get("leafModules", ()), named("wrap"))


def _recipe_locations(pyproject: Pyproject, settings: Settings) -> dict[str, tuple[Location, ...]]:
    table = pyproject.table.get("recipes")
    keys = {_recipe_key(key, pyproject.folder): key for key in (table if isinstance(table, Mapping) else ())}
    return {
        name: pyproject.locations_of_strings("recipes", key)
        for name, key in keys.items()
        if settings.origin(f"recipes.{name}") == "pyproject"
    }


_Entry = tuple[str, Any, SettingOrigin]


def _settings(values: Mapping[str, Any], origins: Mapping[str, SettingOrigin], seconds: float) -> Settings:
    return Settings(
        python=values.get("python"),
        trusted=values.get("trusted", False),
        hints=HintKinds(**_table("hints", values)),
        recipes=_table("recipes", values),
        sizes=Sizes(**_table("sizes", values)),
        exclude=values.get("exclude", NOTHING),
        problems=values.get("problems", "open"),
        retrace=values.get("retrace", "type"),
        frontends=values.get("frontends", ()),
        record_command=values.get("record.command"),
        profile=values.get("profile", "auto"),
        severities=_table("severities", values),
        ignore=values.get("ignore", ()),
        seconds=values.get("limits.seconds", seconds),
        megabytes=values.get("limits.megabytes", int(_LIMITS.megabytes)),
        processes=values.get("limits.processes", _LIMITS.processes),
        open_files=values.get("limits.openFiles", _LIMITS.open_files),
        written_megabytes=values.get("limits.writtenMegabytes", _LIMITS.written_megabytes),
        origins=origins,
    )


def _table(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values whose key starts with ``name.``, without that prefix."""
    return {key.removeprefix(f"{name}."): value for key, value in values.items() if key.startswith(f"{name}.")}


def _from_pyproject(pyproject: Pyproject) -> Iterator[_Entry | SettingProblem]:
    table = dict(pyproject.table)
    if table.pop("trusted", None) is not None:
        words = "'trusted' has no effect in pyproject.toml: a workspace cannot vouch for itself. Trust it in the editor"
        yield SettingProblem(f"{words}.", pyproject.location_of_key("trusted"))
    for keys, value in _flat(table):
        entry = _entry(keys, value, pyproject.folder, "pyproject")
        yield _placed(entry, pyproject, keys) if isinstance(entry, SettingProblem) else entry


def _placed(problem: SettingProblem, pyproject: Pyproject, keys: tuple[str, ...]) -> SettingProblem:
    known = ".".join(keys) in _CHECKS or keys[0] in _TABLES
    return SettingProblem(problem.message, pyproject.location_of(*keys) if known else pyproject.location_of_key(*keys))


def _from_client(table: Mapping[str, Any], folder: str) -> Iterator[_Entry | SettingProblem]:
    for keys, value in _flat(table):
        yield _entry(keys, value, folder, "client")


def _entry(keys: tuple[str, ...], value: Any, folder: str, origin: SettingOrigin) -> _Entry | SettingProblem:
    try:
        return (*_checked(keys, value, folder), origin)
    except ValueError as error:
        where = "tool.fxlsp" if origin == "pyproject" else "setting of the editor or command line"
        return SettingProblem(f"{where}: {error}")


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value with its keys: known tables by entry, without nulls."""
    for key, value in table.items():
        if value is None:
            continue
        if key == "hints" and isinstance(value, bool):
            yield from ((("hints", kind), value) for kind in _HINT_SWITCHES)
        elif key in _TABLES and isinstance(value, Mapping):
            yield from (((key, inner), deep) for inner, deep in value.items() if deep is not None)
        else:
            yield (key,), value


def _checked(keys: tuple[str, ...], value: Any, folder: str) -> tuple[str, Any]:
    """Return the dotted key and the value as :class:`Settings` holds it.

    Raises:
        ValueError: there is no such key, or its value is not valid.
    """
    if keys[0] == "recipes" and len(keys) == 2:
        return f"recipes.{_recipe_key(keys[1], folder)}", checks.expressions(".".join(keys), value)
    name = ".".join(keys)
    if keys[0] == "severities" and len(keys) == 2:
        return f"severities.{checks.code_prefix(name, keys[1])}", checks.one_of(*_LEVELS)(name, value)
    check = _CHECKS.get(name)
    if check is None:
        known = (*_CHECKS, "recipes", "severities")
        # Of an unknown table the table is misspelt, whatever its keys.
        suggestion = did_you_mean(name if keys[0] in _TABLES else keys[0], known)
        raise ValueError(f"there is no setting '{name}'{suggestion} (there are: {', '.join(known)})")
    checked = check(name, value)
    if name == "tracer":
        return name, absolute_reference(checked, folder) if checked else None
    if name == "exclude":
        return name, Exclusion(os.path.realpath(folder) if folder else "", checked)
    return name, tuple(absolute_reference(each, folder) for each in checked) if name == "wrap" else checked


def absolute_reference(name: str, folder: str) -> str:
    """Return ``file.py:Name`` with the absolute path of the file.

    Any other name is returned as it is.
    """
    path, _, inner = name.rpartition(":")
    return f"{os.path.realpath(os.path.join(folder, path))}:{inner}" if path.endswith(".py") else name


def _recipe_key(key: str, folder: str) -> str:
    path, colon, name = key.rpartition(":")
    return f"{os.path.realpath(os.path.join(folder, path))}:{name}" if colon else key


_HINT_KINDS = tuple(kind.name for kind in fields(HintKinds))
_HINT_SWITCHES = tuple(kind for kind in _HINT_KINDS if kind != "sizes")
_SIZES = tuple(size.name for size in fields(Sizes))
_TABLES = ("hints", "limits", "recipes", "record", "severities", "sizes")
_LIMITS_IN_WHOLE_NUMBERS = ("megabytes", "processes", "openFiles", "writtenMegabytes")
_LEVELS = ("error", "warning", "info", "hint", "off")
_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "python": checks.text,
    "trusted": checks.flag,
    "hints": checks.flag_or_table,
    **dict.fromkeys((f"hints.{kind}" for kind in _HINT_SWITCHES), checks.flag),
    "hints.sizes": checks.one_of("symbolic", "numbers", "both"),
    "tracer": checks.class_reference,
    "leafModules": checks.texts,
    "wrap": checks.function_references,
    **dict.fromkeys((f"sizes.{name}" for name in _SIZES), checks.positive_integer),
    "exclude": checks.texts,
    "problems": checks.one_of("open", "workspace"),
    "retrace": checks.one_of("type", "save"),
    "frontends": checks.some_of(*get_args(OtherFrontend)),
    "record.command": checks.text,
    "profile": checks.one_of("auto", "fx", "shapes"),
    "ignore": checks.code_prefixes,
    "limits.seconds": checks.positive,
    **dict.fromkeys((f"limits.{name}" for name in _LIMITS_IN_WHOLE_NUMBERS), checks.positive_integer),
}
