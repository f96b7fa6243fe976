"""How a file itself says that its models are made and fed: in comments, and by doing so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.source.call_sites import CallSite, Subject, call_sites
from fxlsp.source.comments import RecipeComment, recipe_comments
from fxlsp.source.documents import Document
from fxlsp.source.expressions import as_written, called_parts, dotted, first_of_chain, parse_expression, write
from fxlsp.source.models import Factory, Instance, ModelClass, header_of, model_classes
from fxlsp.source.positions import Span

_MOST_CALL_SITES = 16
"""A file of tests may hold hundreds, which would be tried one after the other."""


@dataclass(frozen=True)
class FoundRecipe:
    """A recipe, and where it is written."""

    recipe: Recipe
    span: Span
    """The expression in the comment, or the call."""
    error: str | None = None
    """Why a comment is no recipe; its ``init`` is then the comment's text."""


def recipes_for(document: Document, model: ModelClass | Factory | Instance) -> tuple[FoundRecipe, ...]:
    """The recipes that a file holds for one of its models: comments first, then call sites.

    Call sites that say what to feed the model come before those that do not.
    """
    comments = [_of_comment(each, model) for each in recipe_comments(document, header_of(document, model))]
    if isinstance(model, ModelClass) and model.local:
        # No expression outside its function can make it.
        return tuple(comments)
    return (*comments, *_of_call_sites(document, model))


def _of_comment(comment: RecipeComment, model: ModelClass | Factory | Instance) -> FoundRecipe:
    expression = parse_expression(comment.text)
    if expression is None:
        error = f"'{comment.text}' is not one Python expression, as in '# fxlsp: {_example(model)}'"
        return FoundRecipe(Recipe(comment.text, None, "comment"), comment.span, error)
    return FoundRecipe(recipe_of(comment.text, _name(model), "comment", isinstance(model, Instance)), comment.span)


def recipe_of(text: str, name: str, source: RecipeSource, instance: bool = False) -> Recipe:
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


def _name(model: ModelClass | Factory | Instance) -> str:
    return model.qualname if isinstance(model, ModelClass) else model.name


def _example(model: ModelClass | Factory | Instance) -> str:
    if isinstance(model, Instance):
        return f"{model.name}(torch.randn(1, 3, 32, 32))"
    return f"{_name(model)}()(torch.randn(1, 3, 32, 32))"


def _of_call_sites(document: Document, model: ModelClass | Factory | Instance) -> Iterator[FoundRecipe]:
    name = _name(model)
    subject = Subject(name, isinstance(model, Instance), model.extent)
    models = tuple(each.extent for each in model_classes(document))
    sites = sorted(call_sites(document, subject, models), key=_rank)
    seen: set[tuple[str | None, str | None]] = set()
    origins: set[str | None] = set()
    for site in sites:
        origin = _origin(site)
        # Where a model is called, the place that makes it says nothing more.
        known = (site.init, site.inputs) in seen or (site.inputs is None and origin in origins)
        if not known and len(seen) < _MOST_CALL_SITES:
            seen.add((site.init, site.inputs))
            origins.add(origin)
            yield FoundRecipe(Recipe(site.init or "", site.inputs, "call-site"), site.span)
    if isinstance(model, Instance) and name not in origins:
        yield FoundRecipe(Recipe(name, None, "call-site"), model.name_span)


def _origin(site: CallSite) -> str | None:
    """The construction in what makes the model: ``Net(10)`` for ``Net(10).eval()``."""
    expression = None if site.init is None else parse_expression(site.init)
    return None if expression is None else write(first_of_chain(expression))


def _rank(site: CallSite) -> tuple[bool, bool]:
    """Complete recipes first, then those with inputs alone; in the order of the text otherwise."""
    return site.inputs is None, site.init is None
