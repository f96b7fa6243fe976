"""The recipes in a file for its own models: in comments and at call sites."""

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
from fxlsp.source.recipes.call_sites import (
    CallSite,
    CallSiteQuery,
    UnusedCallSite,
    call_sites,
    unused_call_sites,
)
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_MOST_CALL_SITES = 16
"""A file of tests may have hundreds, which would be tried one after the other."""


@dataclass(frozen=True)
class RecordedRun:
    """Run of a program that used a model."""

    source: str
    """Name of the program: ``train.py``."""
    time: float
    """Seconds since the epoch."""


@dataclass(frozen=True)
class FoundRecipe:
    """Recipe with the span at which it is written."""

    recipe: Recipe
    span: Span
    """The expression in the comment, or the call."""
    file: str | None = None
    """Path of the file in which it is written, if other than that of the model; "" for a setting of the editor."""
    error: str | None = None
    """Why a comment or setting is not a recipe, ``init`` being the text; or why a recorded one is out of date."""
    recorded: RecordedRun | None = None
    """The run that a recorded recipe comes from."""

    def location(self, path: str) -> Location | None:
        """Return where it is written; None for a setting of an editor.

        Args:
            path: of the file of the model.
        """
        span = self.span
        file = path if self.file is None else self.file
        return Location(file, span.line, span.column, span.end_line, span.end_column) if file else None


def find_written(found: Iterable[FoundRecipe], recipe: Recipe) -> FoundRecipe | None:
    """Return the written recipe that a trace used; its inputs or its construction may be inferred."""
    listed = list(found)
    same = [each for each in listed if each.recipe == recipe]
    made = [each for each in listed if each.recipe == replace(recipe, inputs=None)]
    fed = [each for each in listed if each.recipe == replace(recipe, init="")]
    return next(iter(same + made + fed), None)


def recipes_for(document: Document, model: ModelClass | Factory | ModelInstance) -> tuple[FoundRecipe, ...]:
    """Return the recipes in a file for one of its models, comments first.

    Call sites with inputs come before those without.
    """
    comments = [_of_comment(each, model) for each in recipe_comments(document, header_of(document, model))]
    if isinstance(model, ModelClass) and model.local:
        # No expression outside its function can create it.
        return tuple(comments)
    return (*comments, *_of_call_sites(document, model))


def _of_comment(comment: RecipeComment, model: ModelClass | Factory | ModelInstance) -> FoundRecipe:
    if not _is_recipe(comment.text):
        error = f"'{comment.text}' is not one Python expression, as in '# fxlsp: {_example(model)}'"
        return FoundRecipe(Recipe(comment.text, None, "comment"), comment.span, error=error)
    return FoundRecipe(
        parse_recipe(comment.text, _name(model), "comment", isinstance(model, ModelInstance)), comment.span
    )


def recipe_from_setting(text: str, name: str, place: Location | None, instance: bool = False) -> FoundRecipe:
    """Return the recipe of a model in the settings.

    Args:
        place: of ``text`` in the file of the setting; None for a setting of an editor or the command line.
        instance: as for :func:`parse_recipe`.
    """
    span = Span(0, 0, 0, 0) if place is None else Span.of(place)
    file = "" if place is None else place.file
    if not _is_recipe(text):
        error = f"'{text}' is not one Python expression, as in '{name}()(torch.randn(1, 3, 32, 32))'"
        return FoundRecipe(Recipe(text, None, "config"), span, file, error)
    return FoundRecipe(parse_recipe(text, name, "config", instance), span, file)


def _is_recipe(text: str) -> bool:
    return parse_expression(text) is not None or _input_sizes(text) is not None


def parse_recipe(text: str, name: str, source: RecipeSource, instance: bool = False) -> Recipe:
    """Parse a recipe: ``Net(10)``, ``Net(10)(torch.randn(1, 3))`` with inputs, or sizes of inputs, ``(1, 3, 32, 32)``.

    A text that is not an expression becomes a recipe too: its evaluation reports the error.

    Args:
        name: of the model.
        instance: whether the model is an instance: ``name(...)`` then calls it rather than creates it.
    """
    expression = parse_expression(text)
    inputs = _inputs_of_sizes(text)
    if inputs is not None:
        return Recipe("", inputs, source)
    if isinstance(expression, ast.Call) and (
        isinstance(expression.func, ast.Call) or (instance and dotted(expression.func) == name)
    ):
        return Recipe(*called_parts(text, expression), source)
    return Recipe(text if expression is None else as_written(text, expression), None, source)


def option_inputs(text: str) -> str:
    """Return the inputs that an option gives, also by their sizes; numbers without brackets are inputs themselves."""
    expression = parse_expression(f"[{text}\n]")
    is_bare = isinstance(expression, ast.List) and any(isinstance(each, ast.Constant) for each in expression.elts)
    return text if is_bare else _inputs_of_sizes(text) or text


def _inputs_of_sizes(text: str) -> str | None:
    """Return the inputs of which a text gives the sizes alone; None for any other text.

    Example:
        >>> _inputs_of_sizes("(1, 3), (1, 10)")
        'torch.randn(1, 3), torch.randn(1, 10)'
    """
    sizes = _input_sizes(text)
    return None if sizes is None else ", ".join(f"torch.randn({', '.join(map(str, size))})" for size in sizes)


def _input_sizes(text: str) -> list[tuple[int, ...]] | None:
    """Return the sizes of the inputs: of one, ``(1, 3, 32, 32)``, or of each, ``(1, 3), (1, 10)``.

    None for any other text.
    """
    # The brackets make several sizes one expression.
    expression = parse_expression(f"({text}\n)")
    if not isinstance(expression, ast.Tuple) or not expression.elts:
        return None
    if all(isinstance(each, ast.Tuple) for each in expression.elts):
        sizes = [_size(each) for each in expression.elts]
    else:
        sizes = [_size(expression)]
    known = [size for size in sizes if size]
    return known if len(known) == len(sizes) else None


def _size(expression: ast.expr) -> tuple[int, ...]:
    """Return a tuple of integers from 0; an empty one for any other expression."""
    parts = expression.elts if isinstance(expression, ast.Tuple) else []
    numbers = [each.value for each in parts if isinstance(each, ast.Constant) and type(each.value) is int]
    return tuple(numbers) if len(numbers) == len(parts) else ()


def _name(model: ModelClass | Factory | ModelInstance) -> str:
    return model.qualname if isinstance(model, ModelClass) else model.name


def _example(model: ModelClass | Factory | ModelInstance) -> str:
    if isinstance(model, ModelInstance):
        return f"{model.name}(torch.randn(1, 3, 32, 32))"
    return f"{_name(model)}()(torch.randn(1, 3, 32, 32))"


def _of_call_sites(document: Document, model: ModelClass | Factory | ModelInstance) -> Iterator[FoundRecipe]:
    name = _name(model)
    sites = call_sites(document, _query(model), _extents(document))
    found = best_first(map(recipe_from_call_site, _with_imports(sites, document)))
    yield from found
    if isinstance(model, ModelInstance) and name not in map(_origin, found):
        yield FoundRecipe(Recipe(name, None, "call-site"), model.name_span)


def unused_calls_of(document: Document, model: ModelClass | Factory | ModelInstance) -> tuple[UnusedCallSite, ...]:
    """Return the calls in a file of one of its models from which no inputs can be taken, with the reasons."""
    return unused_call_sites(document, _query(model), _extents(document))


def _query(model: ModelClass | Factory | ModelInstance) -> CallSiteQuery:
    return CallSiteQuery(frozenset({_name(model)}), isinstance(model, ModelInstance), model.extent)


def _extents(document: Document) -> tuple[Span, ...]:
    return tuple(each.extent for each in model_classes(document))


def _with_imports(sites: Iterable[CallSite], document: Document) -> Iterator[CallSite]:
    """Yield the call sites with local imports inlined, where that is possible."""
    scopes, imports = scopes_of(document), file_summary_of(document).imports
    for site in sites:
        init = None if site.init is None else with_imports(site.init, scopes, imports)
        inputs = None if site.inputs is None else with_imports(site.inputs, scopes, imports)
        if init is not None or inputs is not None or site.factory_call is not None:
            assert inputs is None or isinstance(inputs, ast.Call)
            yield CallSite(site.span, init, inputs, site.factory_call)


def recipe_from_call_site(site: CallSite) -> FoundRecipe:
    """Return the recipe of a call site, with the names of its file."""
    expression = site.factory_call or site.init
    init = "" if expression is None else write(expression)
    inputs = None if site.inputs is None else write_arguments(site.inputs)
    return FoundRecipe(Recipe(init, inputs, "call-site"), site.span)


def best_first(recipes: Iterable[FoundRecipe]) -> list[FoundRecipe]:
    """Return distinct recipes of call sites, those with ``init`` and ``inputs`` first.

    At most :data:`_MOST_CALL_SITES` are returned.
    """
    found: list[FoundRecipe] = []
    origins: set[str | None] = set()
    for each in sorted(recipes, key=_rank):
        origin = _origin(each)
        # Where a model is also called, the call site that only creates it adds nothing.
        known = any(each.recipe == other.recipe for other in found) or (
            each.recipe.inputs is None and origin in origins
        )
        if not known and len(found) < _MOST_CALL_SITES:
            origins.add(origin)
            found.append(each)
    return found


def _origin(found: FoundRecipe) -> str | None:
    """Return the construction in ``init``: ``Net(10)`` for ``Net(10).eval()``."""
    expression = parse_expression(found.recipe.init) if found.recipe.init else None
    return None if expression is None else write(first_of_chain(expression))


def _rank(found: FoundRecipe) -> tuple[bool, bool]:
    """Return the sort key: complete recipes first, then those with inputs only."""
    return found.recipe.inputs is None, not found.recipe.init
