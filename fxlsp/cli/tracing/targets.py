"""``TARGET``: ``file.py:Name`` or ``package.module:Name``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from fxlsp.cli.tracing.notebooks import overlays_of
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import analyse
from fxlsp.engine.storage.project_folder import marked_folder
from fxlsp.report.codes import NOT_FOUND
from fxlsp.report.problems import Failure
from fxlsp.report.suggestions import did_you_mean
from fxlsp.source.text.documents import read_document
from fxlsp.source.text.notebooks.ipynb import is_notebook


@dataclass(frozen=True, slots=True)
class CommandLineTarget:
    """A model class, factory function or instance.

    Exactly one of ``file`` and ``module`` is set.
    """

    text: str
    """As the user wrote it; results are named by it."""
    file: str | None
    """Real, absolute path."""
    module: str | None
    """Dotted name."""
    name: str
    """Qualified name in the file or module, ``Outer.Inner``."""

    @property
    def folder(self) -> str:
        """The folder whose settings and virtual environment apply."""
        return os.getcwd() if self.file is None else os.path.dirname(self.file)

    @property
    def root(self) -> str:
        """The folder whose modules are the user's own."""
        return os.getcwd() if self.file is None else project_root(self.file)


class TargetError(Exception):
    """A text that names nothing that could be traced."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(text, NOT_FOUND, message)


def parse_target(text: str) -> CommandLineTarget:
    """Return the target of ``text``; relative paths start at the working directory.

    Example:
        >>> parse_target("torchvision.models:resnet18").module
        'torchvision.models'

    Raises:
        TargetError: it has neither of the two forms, or names a file that does not exist.
    """
    if text.endswith(".py") or is_notebook(text):
        raise TargetError(text, _without_name(text))
    where, _, name = text.rpartition(":")
    if not where or not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(text, f"'{text}' names no model: write file.py:Name or package.module:Name")
    if where.endswith(".py") or is_notebook(where) or os.path.basename(where) != where:
        path = os.path.realpath(os.path.expanduser(where))
        if not os.path.isfile(path):
            raise TargetError(text, _missing_file(where))
        _check_notebook(text, where, path)
        return CommandLineTarget(text, path, None, name)
    if not all(part.isidentifier() for part in where.split(".")):
        raise TargetError(text, f"'{where}' is neither a file ending in .py or .ipynb nor the name of a module")
    return CommandLineTarget(text, None, where, name)


def _without_name(where: str) -> str:
    """Return the message for a file without the name of a model: the targets that it has."""
    try:
        document = read_document(os.path.realpath(os.path.expanduser(where))).program
    except FileNotFoundError:
        return _missing_file(where)
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        return f"{where} cannot be read: {error}"
    analysis = analyse(document, Settings())
    if analysis is None:
        return f"{where} does not parse: write the name of a model behind it, {where}:Name"
    places = {candidate.name: candidate.extent for candidate in analysis.candidates}
    names = sorted(places, key=lambda name: places[name])
    if not names:
        return f"{where} has no models"
    return "\n  ".join((f"'{where}' names no model of the file; it has", *(f"{where}:{name}" for name in names)))


def _missing_file(where: str) -> str:
    folder = os.path.dirname(where)
    try:
        beside = os.listdir(os.path.expanduser(folder) or ".")
    except OSError:
        beside = []
    files = (os.path.join(folder, each) for each in beside if each.endswith(".py") or is_notebook(each))
    return f"there is no file {where}{did_you_mean(where, files)}"


def _check_notebook(text: str, where: str, path: str) -> None:
    """Raise TargetError if a file has the name of a notebook and is not one."""
    try:
        overlays_of(path)
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        raise TargetError(text, f"{where} cannot be read: {error}") from error


def project_root(path: str) -> str:
    """Return the nearest folder above that looks like a project's, else the file's."""
    return marked_folder(path) or os.path.dirname(path)


def index_folders(paths: Iterable[str]) -> list[str]:
    """Return the folders whose files may contain recipes for what is in ``paths``.

    They are the projects of the paths, else the folders themselves.
    """
    folders = {marked_folder(os.path.join(real, "_")) or real for real in map(_folder, paths)}
    return sorted(each for each in folders if not any(each.startswith(other + os.sep) for other in folders))


def _folder(path: str) -> str:
    real = os.path.realpath(path)
    return real if os.path.isdir(real) else os.path.dirname(real)
