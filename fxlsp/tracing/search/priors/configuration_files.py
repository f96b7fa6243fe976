"""Configurations in JSON and YAML files beside the code, for arguments whose fields they have."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..trials.values import Group, Guess, Kind, Size, Text, list_of
from .field_reads import FieldReads

_SUFFIXES = (".json", ".yaml", ".yml")
_FOLDERS = re.compile(
    r"(?i:conf(ig)?s?|.*configs?|.*configurations?|cfgs?|hparams|params|options|settings|experiments)"
)
"""Names of folders in which configurations are."""
_NO_CONFIGURATIONS = re.compile(r"(?i:package(-lock)?|tsconfig|composer|.*\.lock|vocab|tokenizer.*)\.\w+|\..*")
_ROOT = (".git", "pyproject.toml", "setup.py", "requirements.txt")
"""What is in the folder of a whole project."""
_MOST_UP, _MOST_DOWN = 3, 2
"""Folders above the module's, and folders in one of configurations."""
_MOST_FILES, _LARGEST_FILE = 80, 1 << 16
_FEWEST_FIELDS = 2
"""One field of a common name says nothing."""
_DEEPEST = 3
"""Sections in sections of a file."""


@dataclass(frozen=True)
class FileSection:
    """A mapping in a file that has every field that is read."""

    name: str
    """Of the file and of the sections that it is in."""
    fields: Mapping[Any, Any]

    def guess(self, reads: FieldReads, made_by: str = "") -> Guess:
        """Return the fields that are read, with the values of the file, in an instance of the user's class if given."""
        wanted = reads.attributes_wanted | reads.keys_wanted
        fields = {key: value for key, value in self.fields.items() if key in wanted}
        if not reads.attributes_wanted and not made_by:
            return Group("dict", tuple((repr(key), _of_value(value)) for key, value in fields.items()))
        kind: Kind = "record" if reads.keys_wanted or reads.methods or made_by else "namespace"
        return Group(kind, tuple((key, _of_value(value)) for key, value in fields.items()), made_by)


def sections_with(reads: FieldReads, module_file: str) -> Iterator[FileSection]:
    """Yield the sections of files beside a module that have all fields that are read of a configuration."""
    wanted = reads.attributes_wanted | reads.keys_wanted
    if len(wanted) < _FEWEST_FIELDS or not all(isinstance(key, str) for key in wanted):
        return
    for number, path in enumerate(_files(os.path.dirname(os.path.abspath(module_file)))):
        if number >= _MOST_FILES:
            return
        name = os.path.splitext(os.path.basename(path))[0]
        for section, fields in _sections(_content(path, wanted), name, 0):
            if wanted <= fields.keys():
                yield FileSection(section, fields)


def _files(folder: str) -> Iterator[str]:
    """Yield the files of a folder and of those above it up to the project's, with its folders of configurations."""
    folders = [folder]
    while len(folders) <= _MOST_UP and not _is_root(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    if not _is_root(folders[-1]):
        folders = folders[:1]
    for each in folders:
        yield from _files_in(each, 0)


def _is_root(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in _ROOT)


def _files_in(folder: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_file() and entry.name.endswith(_SUFFIXES) and not _NO_CONFIGURATIONS.fullmatch(entry.name):
            yield entry.path
    for entry in entries:
        is_of_configurations = depth > 0 or _FOLDERS.fullmatch(entry.name)
        if depth < _MOST_DOWN and is_of_configurations and entry.is_dir(follow_symlinks=False):
            yield from _files_in(entry.path, depth + 1)


def _content(path: str, wanted: set[str]) -> Any:
    """Return what a file holds; None if it cannot be read, or has not the names that are wanted."""
    try:
        if os.path.getsize(path) > _LARGEST_FILE:
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not all(name in text for name in wanted):
            return None
        if path.endswith(".json"):
            return json.loads(text)
        # Code that reads such files has it installed.
        return importlib.import_module("yaml").safe_load(text)
    except Exception:
        # Any file of the user's, in any format: what it raises says that it is no configuration.
        return None


def _sections(value: Any, name: str, depth: int) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return
    yield name, value
    for key, inner in value.items():
        yield from _sections(inner, f"{name}_{key}", depth + 1)


def _of_value(value: Any) -> Guess:
    if isinstance(value, bool) or value is None:
        return Text(repr(value))
    if isinstance(value, int):
        return Size(value)
    if isinstance(value, float):
        return Text(repr(value) if math.isfinite(value) else f"float({str(value)!r})")
    if isinstance(value, list):
        return list_of(map(_of_value, value))
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and key.isidentifier() for key in value):
            return Group("record", tuple((key, _of_value(inner)) for key, inner in value.items()))
        return Group("dict", tuple((repr(key), _of_value(inner)) for key, inner in value.items()))
    return Text(repr(str(value)))
