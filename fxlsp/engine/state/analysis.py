"""Models of a document: how each is constructed, and in which order to trace."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import Factory, ModelClass, ModelInstance, factories, instances, model_classes
from fxlsp.source.recipes.recipes import FoundRecipe, best_first, recipe_from_setting, recipes_for
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_MOST_CONTEXT_MODELS = 3
"""Limit of context models of one document."""
_MOST_ALTERNATIVES = 4
"""Limit of call sites tried after the best one: each failure takes time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Model of a document that can be traced by its name."""

    name: str
    extent: Span
    found: tuple[FoundRecipe, ...]
    """All recipes that its file and other files contain, invalid ones too."""
    recipes: tuple[Recipe | None, ...]
    """Recipes to trace it by; ``(None,)`` if the worker must search for one; empty if its comment is not valid at
    present."""
    alternatives: tuple[Recipe, ...]
    """Further recipes, for the case that none of ``recipes`` works."""
    parents: frozenset[str]
    """Candidates earlier in the document's order that construct it."""
    users: frozenset[SymbolId]
    """Model classes of any file that may construct it, or receive it from the functions that construct them."""
    requested: bool
    """Whether a comment, setting or choice requests it: it is traced even if another trace covers it."""
    pinned: bool = False
    """Whether the user chose its recipe among several: no other is tried."""

    @property
    def is_fed(self) -> bool:
        """Whether inputs are known.

        If not, the trace of a model that constructs it may be better than one with guessed inputs.
        """
        return self.requested or any(recipe is not None and recipe.inputs is not None for recipe in self.recipes)


@dataclass(frozen=True, slots=True)
class ContextModel:
    """Model of another file, traced because it shows classes of this file in use."""

    path: str
    name: str
    found: tuple[FoundRecipe, ...]
    recipe: Recipe
    alternatives: tuple[Recipe, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Candidates of one document, parents before the children that they construct."""

    document: Document
    candidates: tuple[Candidate, ...]
    context_models: tuple[ContextModel, ...] = ()
    files_read: frozenset[str] = frozenset()
    """Paths of the other files on whose texts the recipes depend."""
    import_folders: tuple[str, ...] = ()
    """Folders from which recorded programs imported the file and what it imports."""
    by_name: Mapping[str, Candidate] = field(init=False, compare=False, repr=False)
    """The candidates by their names, the first where two share one."""

    def __post_init__(self) -> None:
        by_name = {candidate.name: candidate for candidate in reversed(self.candidates)}
        object.__setattr__(self, "by_name", by_name)


def analyse(
    document: Document,
    settings: Settings,
    cross_file: CrossFileRecipes | None = None,
    recordings: Recordings | None = None,
) -> Analysis | None:
    """Return the analysis of a document; None if its text does not parse.

    Takes milliseconds for a long text.

    Args:
        cross_file: recipes in the rest of the workspace; None considers this file alone.
        recordings: recorded runs; None considers none.
    """
    document.normalized  # noqa: B018  # computed here, where time may pass, for the comparisons that follow
    if not document.parses:
        return None
    classes = _parents_first(_traceable_classes(document))
    makers = factories(document)
    recorded = {} if recordings is None else recordings.recipes_for(document, classes)
    candidates = [
        _class_candidate(document, model, (*makers, *classes[:rank]), settings, cross_file, recorded)
        for rank, model in enumerate(classes)
    ]
    candidates = [
        candidate for candidate, model in zip(candidates, classes, strict=True) if candidate.requested or model.runs
    ]
    fed = {recipe.inputs for candidate in candidates for recipe in candidate.recipes if recipe is not None}
    first = [_other_candidate(document, factory, settings) for factory in makers]
    last = [_other_candidate(document, instance, settings) for instance in instances(document)]
    wanted = [candidate for candidate in last if candidate.requested or _is_fed_otherwise(candidate, fed)]
    folders = () if recordings is None else recordings.import_folders(document.path)
    if cross_file is None:
        return Analysis(document, (*first, *candidates, *wanted), import_folders=folders)
    context_models = tuple(_context_models(document, candidates, cross_file))
    files_read = frozenset(cross_file.files_read - {document.path})
    return Analysis(document, (*first, *candidates, *wanted), context_models, files_read, folders)


def _context_models(
    document: Document, candidates: Sequence[Candidate], cross_file: CrossFileRecipes
) -> Iterator[ContextModel]:
    """Yield models of other files that show classes without inputs of their own."""
    fed = {candidate.name for candidate in candidates if candidate.is_fed}
    users = sorted(
        {
            place
            for candidate in candidates
            if candidate.name not in fed and candidate.parents.isdisjoint(fed)
            for place in candidate.users
            if place.path != document.path
        }
    )
    given = 0
    for place in users:
        found = tuple(cross_file.all_recipes_for(place)) if given < _MOST_CONTEXT_MODELS else ()
        recipes = [each.recipe for each in found if each.error is None and each.recipe.init]
        if recipes:
            given += 1
            yield ContextModel(*place, found, recipes[0], tuple(recipes[1 : 1 + _MOST_ALTERNATIVES]))


def _traceable_classes(document: Document) -> list[ModelClass]:
    """Return the classes that a name reaches once the file has run.

    No class inside a function; of several with one name the last.
    """
    by_name = {model.qualname: model for model in model_classes(document) if not model.local}
    return list(by_name.values())


def _is_fed_otherwise(candidate: Candidate, fed: Container[str | None]) -> bool:
    """Return whether an instance has known inputs which no class is traced with.

    Without inputs it shows nothing, and with those of a class nothing new.
    """
    return any(recipe and recipe.inputs and recipe.inputs not in fed for recipe in candidate.recipes)


def _parents_first(classes: list[ModelClass]) -> list[ModelClass]:
    """Return the classes so that each follows those that construct it, cycles aside."""
    constructed_by = {
        model.qualname: [other for other in classes if model.qualname in other.constructs and other is not model]
        for model in classes
    }
    ordered: dict[str, ModelClass] = {}
    entered: set[str] = set()
    waiting = [(model, False) for model in reversed(classes)]
    while waiting:
        model, parents_done = waiting.pop()
        if parents_done:
            ordered.setdefault(model.qualname, model)
        elif model.qualname not in entered:
            entered.add(model.qualname)
            waiting.append((model, True))
            waiting.extend((parent, False) for parent in constructed_by[model.qualname])
    return list(ordered.values())


def _class_candidate(
    document: Document,
    model: ModelClass,
    before: Sequence[ModelClass | Factory],
    settings: Settings,
    cross_file: CrossFileRecipes | None,
    recorded: Mapping[str, Sequence[FoundRecipe]],
) -> Candidate:
    name = model.qualname
    found = _found(document, model, settings, cross_file, recorded.get(name, ()))
    recipes, alternatives, requested = _chosen(found)
    parents = frozenset(
        other.name if isinstance(other, Factory) else other.qualname for other in before if name in other.constructs
    )
    users = cross_file.parents_of(SymbolId(document.path, name)) if cross_file is not None else frozenset()
    return Candidate(name, model.extent, found, recipes, alternatives, parents, users, requested)


def _other_candidate(document: Document, model: Factory | ModelInstance, settings: Settings) -> Candidate:
    found = _found(document, model, settings)
    recipes, alternatives, requested = _chosen(found)
    return Candidate(model.name, model.extent, found, recipes, alternatives, frozenset(), frozenset(), requested)


def _found(
    document: Document,
    model: ModelClass | Factory | ModelInstance,
    settings: Settings,
    cross_file: CrossFileRecipes | None = None,
    recorded: Sequence[FoundRecipe] = (),
) -> tuple[FoundRecipe, ...]:
    """Return all recipes of a model: comments, then settings, then recorded calls, then call sites.

    The user can choose any of them.
    """
    name = model.qualname if isinstance(model, ModelClass) else model.name
    own = recipes_for(document, model)
    comments = [each for each in own if each.recipe.source == "comment"]
    sites = [each for each in own if each.recipe.source != "comment"]
    if cross_file is not None:
        sites = best_first([*sites, *cross_file.recipes_for(document, name)])
    configured = (
        recipe_from_setting(each.text, name, each.place, isinstance(model, ModelInstance))
        for each in settings.configured(document.path, name)
    )
    return (*comments, *configured, *recorded, *sites)


def _chosen(found: tuple[FoundRecipe, ...]) -> tuple[tuple[Recipe | None, ...], tuple[Recipe, ...], bool]:
    """Return (recipes, alternatives, requested) for a candidate.

    The recipes are all comments, else all of the settings, else the best recorded call or call site, with the next ones
    as alternatives.
    """
    for source in ("comment", "config"):
        requested = [each for each in found if each.recipe.source == source]
        if requested:
            return tuple(each.recipe for each in requested if each.error is None), (), True
    recipes = tuple(_worth_trying(found))
    return recipes[:1] or (None,), recipes[1 : 1 + _MOST_ALTERNATIVES], False


def _worth_trying(found: Sequence[FoundRecipe]) -> Iterator[Recipe]:
    """Yield recorded calls and call sites in the order to try them.

    A recorded one that lacks inputs or construction comes after call sites that have both. Of recorded calls the first
    with each construction is enough: what fails with one of its inputs is likely to fail with the others.
    """
    valid = [each.recipe for each in found if each.error is None]
    recorded = [each for each in valid if each.source == "recording"]
    by_init = {each.init: each for each in reversed(recorded)}
    chosen = [each for each in recorded if by_init[each.init] is each]
    sites = [each for each in valid if each.source != "recording"]
    ordered = [*chosen, *sites]
    yield from sorted(ordered, key=lambda each: not each.init or each.inputs is None)
