"""The recipe that is written down for a model: in a comment, in the settings, or as a call in its file."""

from __future__ import annotations

from fxlsp.cli.tracing.project import Project
from fxlsp.engine.state.analysis import Analysis, Candidate, analyse
from fxlsp.report.codes import BAD_RECIPE
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe, recipe_of
from fxlsp.source.text.documents import read_document


class RecipeError(Exception):
    """What is written where a recipe is expected is none."""

    def __init__(self, path: str, found: FoundRecipe, message: str) -> None:
        super().__init__(message)
        self.failure = Failure("", BAD_RECIPE, message, found.location(path))


def written_recipes(path: str, name: str, project: Project) -> tuple[Recipe, ...]:
    """The recipes of the model ``name`` of a file, the one to try first first; other files are asked if its own says
    nothing. None where only the tracing process can say what is wrong: a file that cannot be read or does not parse, a
    name that it does not hold.

    Raises:
        RecipeError: a comment or setting that should hold it does not.
    """
    try:
        document = read_document(path).program
    except (OSError, UnicodeDecodeError, SyntaxError):
        return ()
    candidate = _candidate(analyse(document, project.settings), name)
    if candidate is None:
        configured = project.settings.recipes_of(path, name)
        return (recipe_of(configured[0], name, "config"),) if configured else ()
    for found in candidate.found:
        if found.error is not None:
            raise RecipeError(path, found, found.error)
    if not candidate.is_fed:
        candidate = _candidate(analyse(document, project.settings, project.files.elsewhere()), name) or candidate
    first = candidate.recipes[0]
    return () if first is None else (first, *candidate.alternatives)


def _candidate(analysis: Analysis | None, name: str) -> Candidate | None:
    candidates = analysis.candidates if analysis is not None else ()
    return next((candidate for candidate in candidates if candidate.name == name), None)
