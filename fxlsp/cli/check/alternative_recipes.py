"""Further recipes of models, for the parts that the first recipe does not create.

``ResNet18()`` does not run the ``Bottleneck`` that ``ResNet50()`` contains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fxlsp.cli.check.candidates import FoundModel
from fxlsp.cli.check.results import CheckResults
from fxlsp.cli.check.trace_order import Member, parents_of
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.models.file_summary import FileSummary, file_summary_of
from fxlsp.source.python.expressions import dotted, first_of_chain, parse_expression

_MAX_TRACES = 6
"""Traces for the sake of one class."""
_MAX_UNNAMED_TRACES = 2
"""Of them those by recipes that do not name the class."""


def alternative_recipes(
    member: Member, members: Sequence[Member], found: CheckResults
) -> Iterator[tuple[FoundModel, Recipe]]:
    """Yield untraced recipes of models that may create ``member``, likeliest first."""
    _, model = member
    given = unnamed = 0
    for file, parent in _ancestors(member, members):
        inputs = _known_inputs(parent, found)
        offers = file_summary_of(file.document)
        recipes = [each.recipe for each in parent.candidate.found if each.recipe.source == "call-site"]
        for named, recipe in sorted(
            ((_mentions(recipe, model.candidate.name, offers), recipe) for recipe in recipes),
            key=lambda pair: not pair[0],
        ):
            fed = recipe if recipe.inputs is not None or recipe.file else _with_inputs(recipe, inputs)
            tried = any(attempt.model is parent and attempt.recipe in (recipe, fed) for attempt in found.attempts)
            if recipe.init and not tried and given < _MAX_TRACES and (named or unnamed < _MAX_UNNAMED_TRACES):
                given, unnamed = given + 1, unnamed + (not named)
                yield parent, fed


def _ancestors(member: Member, members: Sequence[Member]) -> Iterator[Member]:
    """Yield what creates ``member``, then what creates that, and so on."""
    by_key = {(file.document.path, model.candidate.name): (file, model) for file, model in members}
    waiting, seen = [member], {id(member[1])}
    for current in waiting:
        parents = sorted(parents_of(current) & by_key.keys())
        new = [by_key[key] for key in parents if id(by_key[key][1]) not in seen]
        seen |= {id(model) for _, model in new}
        waiting += new
        yield from new


def _known_inputs(parent: FoundModel, found: CheckResults) -> str | None:
    """Return the inputs that the code gives to a model that is made in another way.

    Those that a search has found fit the model for which it did: one made in another way may take more channels.
    """
    reports = (each.outcome for each in found.attempts if each.model is parent)
    recipes = [report.recipe for report in reports if isinstance(report, Report)]
    return next((recipe.inputs for recipe in recipes if recipe.file is None and recipe.source != "search"), None)


def _with_inputs(recipe: Recipe, inputs: str | None) -> Recipe:
    """Return a recipe with the inputs of a model that is made in another way, which need not fit this one."""
    return recipe if inputs is None else replace(recipe, inputs=inputs, source="search")


def _mentions(recipe: Recipe, name: str, offers: FileSummary) -> bool:
    """Return whether the recipe, or what it calls, names the class."""
    expression = parse_expression(recipe.init)
    start = None if expression is None else first_of_chain(expression)
    callee = offers.by_name.get(dotted(start.func) or "") if isinstance(start, ast.Call) else None
    return name in recipe.init or (callee is not None and name in callee.mentions)
