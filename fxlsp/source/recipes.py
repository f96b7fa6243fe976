"""How a file itself says that its models are made and fed: in comments, and by doing so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.report.recipes import Recipe
from fxlsp.source.call_sites import CallSite, Subject, call_sites
from fxlsp.source.comments import RecipeComment, recipe_comments
from fxlsp.source.documents import Document
from fxlsp.source.expressions import called_parts, dotted, parse_expression
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
    init, inputs = comment.text, None
    if isinstance(expression, ast.Call) and _is_run(expression, model):
        init, inputs = called_parts(comment.text, expression)
    return FoundRecipe(Recipe(init, inputs, "comment"), comment.span)


def _is_run(call: ast.Call, model: ModelClass | Factory | Instance) -> bool:
    """Whether a call is one of a module, rather than one that makes it."""
    return isinstance(call.func, ast.Call) or (isinstance(model, Instance) and dotted(call.func) == model.name)


def _example(model: ModelClass | Factory | Instance) -> str:
    if isinstance(model, Instance):
        return f"{model.name}(torch.randn(1, 3, 32, 32))"
    name = model.qualname if isinstance(model, ModelClass) else model.name
    return f"{name}()(torch.randn(1, 3, 32, 32))"


def _of_call_sites(document: Document, model: ModelClass | Factory | Instance) -> Iterator[FoundRecipe]:
    name = model.qualname if isinstance(model, ModelClass) else model.name
    subject = Subject(name, isinstance(model, Instance), model.extent)
    models = [each.extent for each in model_classes(document)]
    sites = sorted(call_sites(document, subject, models), key=_rank)
    made: set[str | None] = set()
    seen: set[tuple[str | None, str | None]] = set()
    for site in sites:
        # A construction that a fed model was made by is known already.
        known = (site.init, site.inputs) in seen or (site.inputs is None and site.init in made)
        if not known and len(seen) < _MOST_CALL_SITES:
            seen.add((site.init, site.inputs))
            made.add(site.init)
            yield FoundRecipe(Recipe(site.init or "", site.inputs, "call-site"), site.span)
    if isinstance(model, Instance) and name not in made:
        yield FoundRecipe(Recipe(name, None, "call-site"), model.name_span)


def _rank(site: CallSite) -> tuple[bool, bool]:
    """Complete recipes first, then those with inputs alone; in the order of the text otherwise."""
    return site.inputs is None, site.init is None
