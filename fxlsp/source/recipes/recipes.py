"""How a file itself says that its models are made and fed: in comments, and by doing so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fxlsp.report.locations import Location
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.models.models import Factory, ModelClass, ModelInstance, header_of, model_classes
from fxlsp.source.python.comments import RecipeComment, recipe_comments
from fxlsp.source.python.expressions import (
    as_written,
    called_parts,
    dotted,
    first_of_chain,
    parse_expression,
    write,
    write_arguments,
)
from fxlsp.source.python.imports import with_imports
from fxlsp.source.python.scopes import scopes_of
from fxlsp.source.recipes.call_sites import CallSite, CallSiteQuery, call_sites
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_MOST_CALL_SITES = 16
"""A file of tests may hold hundreds, which would be tried one after the other."""


@dataclass(frozen=True)
class FoundRecipe:
    """A recipe, and where it is written."""

    recipe: Recipe
    span: Span
    """The expression in the comment, or the call."""
    file: str | None = None
    """Path of the file in which it is written, if that is not the model's own; "" for a setting of the editor."""
    error: str | None = None
    """Why a comment or setting is no recipe; its ``init`` is then the text."""

    def location(self, path: str) -> Location | None:
        """Where it is written, ``path`` being the model's file; None for a setting of an editor."""
        span = self.span
        file = path if self.file is None else self.file
        return Location(file, span.line, span.column, span.end_line, span.end_column) if file else None


def find_written(found: Iterable[FoundRecipe], recipe: Recipe) -> FoundRecipe | None:
    """What is written of a recipe that a trace followed, perhaps with inputs that were found otherwise."""
    listed = list(found)
    same = [each for each in listed if each.recipe == recipe]
    made = [each for each in listed if each.recipe == replace(recipe, inputs=None)]
    return next(iter(same + made), None)


def recipes_for(document: Document, model: ModelClass | Factory | ModelInstance) -> tuple[FoundRecipe, ...]:
    """The recipes that a file holds for one of its models: comments first, then call sites.

    Call sites that say what to feed the model come before those that do not.
    """
    comments = [_of_comment(each, model) for each in recipe_comments(document, header_of(document, model))]
    if isinstance(model, ModelClass) and model.local:
        # No expression outside its function can make it.
        return tuple(comments)
    return (*comments, *_of_call_sites(document, model))


def _of_comment(comment: RecipeComment, model: ModelClass | Factory | ModelInstance) -> FoundRecipe:
    expression = parse_expression(comment.text)
    if expression is None:
        error = f"'{comment.text}' is not one Python expression, as in '# fxlsp: {_example(model)}'"
        return FoundRecipe(Recipe(comment.text, None, "comment"), comment.span, error=error)
    return FoundRecipe(
        parse_recipe(comment.text, _name(model), "comment", isinstance(model, ModelInstance)), comment.span
    )


def recipe_from_setting(text: str, name: str, place: Location | None, instance: bool = False) -> FoundRecipe:
    """The recipe that the settings hold for a model.

    Args:
        place: of ``text``, in the file that holds the setting; None where an editor or command line says it.
        instance: as for :func:`parse_recipe`.
    """
    span = Span(0, 0, 0, 0) if place is None else Span.of(place)
    file = "" if place is None else place.file
    if parse_expression(text) is None:
        error = f"'{text}' is not one Python expression, as in '{name}()(torch.randn(1, 3, 32, 32))'"
        return FoundRecipe(Recipe(text, None, "config"), span, file, error)
    return FoundRecipe(parse_recipe(text, name, "config", instance), span, file)


def parse_recipe(text: str, name: str, source: RecipeSource, instance: bool = False) -> Recipe:
    """The recipe that one expression means: ``Net(10)`` makes a model, ``Net(10)(torch.randn(1, 3))`` feeds it too.

    A text that is no expression becomes a recipe all the same: whoever evaluates it says what is wrong.

    Args:
        name: of the model.
        instance: the model is an instance: ``name(...)`` runs it rather than makes it.
    """
    expression = parse_expression(text)
    if isinstance(expression, ast.Call) and (
        isinstance(expression.func, ast.Call) or (instance and dotted(expression.func) == name)
    ):
        return Recipe(*called_parts(text, expression), source)
    return Recipe(text if expression is None else as_written(text, expression), None, source)


def _name(model: ModelClass | Factory | ModelInstance) -> str:
    return model.qualname if isinstance(model, ModelClass) else model.name


def _example(model: ModelClass | Factory | ModelInstance) -> str:
    if isinstance(model, ModelInstance):
        return f"{model.name}(torch.randn(1, 3, 32, 32))"
    return f"{_name(model)}()(torch.randn(1, 3, 32, 32))"


def _of_call_sites(document: Document, model: ModelClass | Factory | ModelInstance) -> Iterator[FoundRecipe]:
    name = _name(model)
    subject = CallSiteQuery(frozenset({name}), isinstance(model, ModelInstance), model.extent)
    models = tuple(each.extent for each in model_classes(document))
    found = best_first(map(recipe_from_call_site, _with_imports(call_sites(document, subject, models), document)))
    yield from found
    if isinstance(model, ModelInstance) and name not in map(_origin, found):
        yield FoundRecipe(Recipe(name, None, "call-site"), model.name_span)


def _with_imports(sites: Iterable[CallSite], document: Document) -> Iterator[CallSite]:
    """The call sites in words that the top of the file knows; what cannot be told so is not known."""
    scopes, imports = scopes_of(document), file_summary_of(document).imports
    for site in sites:
        init = None if site.init is None else with_imports(site.init, scopes, imports)
        inputs = None if site.inputs is None else with_imports(site.inputs, scopes, imports)
        if init is not None or inputs is not None or site.factory_call is not None:
            assert inputs is None or isinstance(inputs, ast.Call)
            yield CallSite(site.span, init, inputs, site.factory_call)


def recipe_from_call_site(site: CallSite) -> FoundRecipe:
    """What a call site says, in the words of its file."""
    expression = site.factory_call or site.init
    init = "" if expression is None else write(expression)
    inputs = None if site.inputs is None else write_arguments(site.inputs)
    return FoundRecipe(Recipe(init, inputs, "call-site"), site.span)


def best_first(recipes: Iterable[FoundRecipe]) -> list[FoundRecipe]:
    """Call sites with those first that say both how to make the model and what to feed it, each recipe once."""
    found: list[FoundRecipe] = []
    origins: set[str | None] = set()
    for each in sorted(recipes, key=_rank):
        origin = _origin(each)
        # Where a model is called, the place that makes it says nothing more.
        known = any(each.recipe == other.recipe for other in found) or (
            each.recipe.inputs is None and origin in origins
        )
        if not known and len(found) < _MOST_CALL_SITES:
            origins.add(origin)
            found.append(each)
    return found


def _origin(found: FoundRecipe) -> str | None:
    """The construction in what makes the model: ``Net(10)`` for ``Net(10).eval()``."""
    expression = parse_expression(found.recipe.init) if found.recipe.init else None
    return None if expression is None else write(first_of_chain(expression))


def _rank(found: FoundRecipe) -> tuple[bool, bool]:
    """Complete recipes first, then those with inputs alone; in their order otherwise."""
    return found.recipe.inputs is None, not found.recipe.init
