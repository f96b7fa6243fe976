"""Hover at a position: expression, variable, module, class or problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hover.class_ import class_hover, forward_hover
from fxlsp.ide.hover.expression import expression_hover
from fxlsp.ide.hover.module import modules_hover
from fxlsp.ide.hover.problem import problem_hover
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.hover.variable import held_values, variable_hover
from fxlsp.ide.hover.verdicts import verdict_lines
from fxlsp.ide.problems import problems
from fxlsp.ide.trace_view.at_cursor import Hit, hits_at, hits_of, modules_made_at, modules_of_attribute
from fxlsp.ide.trace_view.instances import focus_on
from fxlsp.ide.trace_view.outline import outline
from fxlsp.source.python.cursor import attribute_path_at, variable_at


def hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """Return what the traces have for the position.

    None if they have nothing, because another language server may answer.
    """
    known = _known(snapshot, path, line, column)
    shown = problems(snapshot, path)
    wrong = problem_hover(snapshot, path, shown, line, column, "" if known is None else known.text.plain)
    if wrong is None:
        return known
    verdicts = verdict_lines(snapshot, path, shown, line, column)
    if known is None:
        return replace(wrong, advice=(*wrong.advice, *verdicts))
    return replace(known, facts=(*known.facts[:1], *verdicts, *known.facts[1:]), advice=wrong.advice)


def _known(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    found = hits_at(snapshot, path, line, column)
    span, hits = found or (None, [])
    variable = _variable_hover(snapshot, path, line, column, hits)
    if variable is not None:
        return variable
    if span is not None and any(each.item.events for each in hits):
        return expression_hover(hits, focus_on(snapshot, path), span)
    named = _name_hover(snapshot, path, line, column) or _module_hover(snapshot, path, line, column)
    return named or (None if span is None else expression_hover(hits, focus_on(snapshot, path), span))


def _variable_hover(snapshot: Snapshot, path: str, line: int, column: int, hits: Sequence[Hit]) -> HoverText | None:
    """Return the hover of a variable.

    A name is narrower than the expression that reads it; an assigned name is shown as the value that it gets.
    """
    document = snapshot.documents.get(path)
    variable = None if document is None else variable_at(document, line, column)
    if variable is None:
        return None
    focus = focus_on(snapshot, path)
    if variable.value is not None:
        given = hits_of(snapshot, path, variable.value)
        return expression_hover(given, focus, variable.span) if given else None
    return variable_hover(variable.name, held_values(variable.name, hits), focus, variable.span)


def _module_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """Return the hover of modules.

    An attribute is narrower than the expression that constructed the module that it holds.
    """
    document = snapshot.documents.get(path)
    attribute = None if document is None else attribute_path_at(document, line, column)
    named = [] if attribute is None else modules_of_attribute(snapshot, path, attribute)
    if attribute is not None and named:
        return modules_hover(named, focus_on(snapshot, path), attribute.span)
    made = modules_made_at(snapshot, path, line, column)
    return None if made is None else modules_hover(made[1], focus_on(snapshot, path), made[0])


def _name_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    for model in (each.model for each in outline(snapshot, path)):
        if model.name.contains(line, column):
            return class_hover(snapshot, path, model)
        if model.forward is not None and model.forward.name.contains(line, column):
            return forward_hover(snapshot, path, model, model.forward.name)
    return None
