"""Which models a document holds, how each is to be made, and in what order they are traced."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from fxlsp.engine.settings import Settings
from fxlsp.report.recipes import Recipe
from fxlsp.source.documents import Document
from fxlsp.source.models import Factory, Instance, ModelClass, factories, instances, model_classes
from fxlsp.source.positions import Span
from fxlsp.source.recipes import FoundRecipe, recipe_of, recipes_for


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model of a document that can be traced by its name."""

    name: str
    extent: Span
    found: tuple[FoundRecipe, ...]
    """What its file says about it, mistakes too."""
    recipes: tuple[Recipe | None, ...]
    """Those to trace it by; ``(None,)`` leaves it to the tracing process; empty while its comment is being mended."""
    parents: frozenset[str]
    """Candidates before it in the document's order that construct it."""
    asked: bool
    """A comment or setting asks for it: it is traced even if another trace covers it."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The candidates of one document, parents before the children that they construct."""

    document: Document
    candidates: tuple[Candidate, ...]


def analyse(document: Document, settings: Settings) -> Analysis | None:
    """The analysis of a document; None if its text does not parse. Takes milliseconds for a long text."""
    document.normalized  # noqa: B018  # computed here, where time may pass, for the comparisons that follow
    if not document.parses:
        return None
    classes = _parents_first(_traceable_classes(document))
    makers = factories(document)
    candidates = [
        _class_candidate(document, model, (*makers, *classes[:rank]), settings) for rank, model in enumerate(classes)
    ]
    candidates = [
        candidate for candidate, model in zip(candidates, classes, strict=True) if candidate.asked or model.runs
    ]
    fed = {recipe.inputs for candidate in candidates for recipe in candidate.recipes if recipe is not None}
    first = [_other_candidate(document, factory, settings) for factory in makers]
    last = [_other_candidate(document, instance, settings) for instance in instances(document)]
    wanted = [candidate for candidate in last if candidate.asked or _is_fed_otherwise(candidate, fed)]
    return Analysis(document, (*first, *candidates, *wanted))


def _traceable_classes(document: Document) -> list[ModelClass]:
    """Those that a name reaches once the file has run: not one inside a function, the last of those of one name."""
    by_name = {model.qualname: model for model in model_classes(document) if not model.local}
    return list(by_name.values())


def _is_fed_otherwise(candidate: Candidate, fed: Container[str | None]) -> bool:
    """An instance shows something only if its inputs are known, and something new only if no class is fed them."""
    return any(recipe and recipe.inputs and recipe.inputs not in fed for recipe in candidate.recipes)


def _parents_first(classes: list[ModelClass]) -> list[ModelClass]:
    """In an order in which whatever constructs a class comes before it, cycles aside."""
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
    document: Document, model: ModelClass, before: Sequence[ModelClass | Factory], settings: Settings
) -> Candidate:
    found = recipes_for(document, model)
    recipes, asked = _chosen(found, settings.recipes_of(document.path, model.qualname), model.qualname)
    parents = frozenset(
        other.name if isinstance(other, Factory) else other.qualname
        for other in before
        if model.qualname in other.constructs
    )
    return Candidate(model.qualname, model.extent, found, recipes, parents, asked)


def _other_candidate(document: Document, model: Factory | Instance, settings: Settings) -> Candidate:
    found = recipes_for(document, model)
    configured = settings.recipes_of(document.path, model.name)
    recipes, asked = _chosen(found, configured, model.name, isinstance(model, Instance))
    return Candidate(model.name, model.extent, found, recipes, frozenset(), asked)


def _chosen(
    found: tuple[FoundRecipe, ...], configured: tuple[str, ...], name: str, instance: bool = False
) -> tuple[tuple[Recipe | None, ...], bool]:
    """All comments, else all of the settings, else the best call site; and whether somebody asked for it."""
    comments = [recipe for recipe in found if recipe.recipe.source == "comment"]
    if comments:
        return tuple(recipe.recipe for recipe in comments if recipe.error is None), True
    if configured:
        return tuple(recipe_of(text, name, "config", instance) for text in configured), True
    sites = [recipe.recipe for recipe in found if recipe.error is None]
    return (sites[0] if sites else None,), False
