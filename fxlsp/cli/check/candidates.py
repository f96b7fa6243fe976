"""Models that ``fxlsp check`` finds in a file before anything is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.cli.output.excerpts import shown_path
from fxlsp.cli.tracing.targets import CommandLineTarget
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import Candidate, analyse
from fxlsp.ide.problems import syntax_problems
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import BAD_RECIPE, NOT_LOADED
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.models.file_summary import may_define_models
from fxlsp.source.models.models import ModelClass, factories, instances, model_classes
from fxlsp.source.python.comment_mistakes import comment_mistakes
from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.notebooks.ipynb import is_notebook
from fxlsp.source.text.positions import Span


@dataclass(frozen=True)
class FoundModel:
    """A class, factory or instance that can be traced by its name."""

    target: CommandLineTarget
    location: Location
    """Where its name is written."""
    candidate: Candidate
    """Its recipes and their sources."""


@dataclass(frozen=True)
class FoundFile:
    """A file that may contain models."""

    document: Document
    classes: tuple[ModelClass, ...]
    """Those with a ``forward`` of their own, in the order of the text, local ones too."""
    models: tuple[FoundModel, ...]
    problems: tuple[Problem, ...]
    """Those of comments and settings that are not recipes."""

    def target(self, model: ModelClass) -> str:
        """Return the public name of one of ``classes``."""
        return _target(self.document, model.qualname).text

    def location(self, model: ModelClass) -> Location:
        """Return where the name of one of ``classes`` is written."""
        return _location(self.document, model.name)


def find_models(path: str, settings: Settings, files: WorkspaceFiles) -> FoundFile | Problem | None:
    """Return what one file contains.

    Returns:
        None if it contains no model, a problem if it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            if not may_define_models(file.read()):
                return None
        document = files.document(path)
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        name = shown_path(path)
        place = Location(path, 1, 1, 1, 1)
        return Problem(NOT_LOADED, "warning", f"{name} cannot be read: {error}", place, model=name)
    candidates = _candidates(document, settings, files)
    models = tuple(_models(document, candidates))
    classes = tuple(model for model in model_classes(document) if model.forward is not None)
    problems = tuple(problem for model in models for problem in _bad_recipes(document, model))
    if not models and not classes:
        return _syntax_error(document)
    return FoundFile(document, classes, models, (*problems, *_mistaken_comments(document), *_broken_cells(path)))


def _mistaken_comments(document: Document) -> Iterator[Problem]:
    for mistake in comment_mistakes(document):
        place = _location(document, mistake.span)
        yield Problem(BAD_RECIPE, "hint", mistake.message, place, model=shown_path(document.path))


def _broken_cells(path: str) -> Iterator[Problem]:
    """Yield why cells of a notebook with models are left out."""
    if is_notebook(path):
        name = shown_path(path)
        yield from (replace(problem, model=name) for problem in syntax_problems(read_document(path)))


def _syntax_error(document: Document) -> Problem | None:
    """Return why no model was found in text that may define one."""
    if document.parses or "Module" not in document.text:
        return None
    try:
        ast.parse(document.text)
    except SyntaxError as error:
        name, line, column = shown_path(document.path), error.lineno or 1, max(1, error.offset or 1)
        place = Location(document.path, line, column, line, column + 1)
        message = f"{name} cannot be read: {error.msg}"
        return Problem(NOT_LOADED, "error", message, place, model=name)
    return None


def _candidates(document: Document, settings: Settings, files: WorkspaceFiles) -> tuple[Candidate, ...]:
    """Return the candidates of a file.

    Of text that does not parse, they are all classes: the tracing process then reports the syntax error.
    """
    analysis = analyse(document, settings, files.elsewhere(), files.recordings)
    if analysis is not None:
        return analysis.candidates
    classes = [model for model in model_classes(document) if not model.local]
    nothing = frozenset[str]()
    return tuple(
        Candidate(model.qualname, model.extent, (), (None,), (), nothing, frozenset(), False) for model in classes
    )


def _models(document: Document, candidates: tuple[Candidate, ...]) -> Iterator[FoundModel]:
    names = _name_spans(document)
    for candidate in candidates:
        place = _location(document, names.get(candidate.name, candidate.extent))
        yield FoundModel(_target(document, candidate.name), place, candidate)


def _name_spans(document: Document) -> dict[str, Span]:
    return {
        **{factory.name: factory.name_span for factory in factories(document)},
        **{instance.name: instance.name_span for instance in instances(document)},
        **{model.qualname: model.name for model in model_classes(document)},
    }


def _bad_recipes(document: Document, model: FoundModel) -> Iterator[Problem]:
    for found in model.candidate.found:
        if found.error is not None:
            place = found.location(document.path)
            severity: Severity = "warning" if found.recorded is None else "hint"
            yield Problem(BAD_RECIPE, severity, found.error, place, model=model.target.text)


def _target(document: Document, name: str) -> CommandLineTarget:
    return CommandLineTarget(f"{shown_path(document.path)}:{name}", document.path, None, name)


def _location(document: Document, span: Span) -> Location:
    return Location(document.path, span.line, span.column, span.end_line, span.end_column)
