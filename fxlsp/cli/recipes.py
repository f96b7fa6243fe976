"""The recipe that is written down for a model: in a comment, in the settings, or as a call in its file."""

from __future__ import annotations

from fxlsp.engine.analysis import analyse
from fxlsp.engine.settings import Settings
from fxlsp.report.codes import BAD_RECIPE
from fxlsp.report.places import Location
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe
from fxlsp.source.documents import read_document
from fxlsp.source.recipes import FoundRecipe, recipe_of


class RecipeError(Exception):
    """What is written where a recipe is expected is none."""

    def __init__(self, path: str, found: FoundRecipe, message: str) -> None:
        super().__init__(message)
        span = found.span
        place = Location(path, span.line, span.column, span.end_line, span.end_column)
        self.failure = Failure("", BAD_RECIPE, message, place)


def written_recipe(path: str, name: str, settings: Settings) -> Recipe | None:
    """The first recipe of the model ``name`` of a file; None where there is none, and where only the tracing process
    can say what is wrong: a file that cannot be read or does not parse, a name that it does not hold.

    Raises:
        RecipeError: a comment that should hold it does not.
    """
    try:
        document = read_document(path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None
    analysis = analyse(document, settings)
    candidates = analysis.candidates if analysis is not None else ()
    candidate = next((candidate for candidate in candidates if candidate.name == name), None)
    if candidate is None:
        configured = settings.recipes_of(path, name)
        return recipe_of(configured[0], name, "config") if configured else None
    for found in candidate.found:
        if found.error is not None:
            raise RecipeError(path, found, found.error)
    return candidate.recipes[0]
