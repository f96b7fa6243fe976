"""What a hover says about an expression of a ``forward``, a model class, the name of its ``forward``, or a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fxlsp.answers.classes import class_facts, forward_facts
from fxlsp.answers.counts import counted
from fxlsp.answers.facts import cost_facts, node_facts, warnings
from fxlsp.answers.focus import Focus, focus_on
from fxlsp.answers.hovertext import HoverText, Part
from fxlsp.answers.module_hover import modules_facts
from fxlsp.answers.modules import modules_made_at, modules_named
from fxlsp.answers.origins import STALE, is_stale, origins_of
from fxlsp.answers.outline import outline
from fxlsp.answers.problem_hover import problem_hover
from fxlsp.answers.richtext import RichText, code, dotted, words
from fxlsp.answers.runs import Run, runs_table
from fxlsp.answers.shapes import flow_text
from fxlsp.answers.sightings import Sighting, sightings_at, sightings_of
from fxlsp.answers.variables import holdings, variable_facts
from fxlsp.engine.store import Snapshot
from fxlsp.source.attribute_paths import attribute_path_at
from fxlsp.source.names import variable_at
from fxlsp.source.positions import Span


def hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """What the traces know about the place; None where they know nothing, since another server may."""
    known = _known(snapshot, path, line, column)
    problems = problem_hover(snapshot, path, line, column)
    if known is None or problems is None:
        return known or problems
    return replace(known, advice=problems.advice)


def _known(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    sightings = sightings_at(snapshot, path, line, column)
    variable = _variable_hover(snapshot, path, line, column, sightings)
    if variable is not None:
        return variable
    if any(each.place.events for each in sightings):
        return _expression_hover(snapshot, path, sightings)
    named = _name_hover(snapshot, path, line, column) or _module_hover(snapshot, path, line, column)
    return named or (_expression_hover(snapshot, path, sightings) if sightings else None)


def _variable_hover(
    snapshot: Snapshot, path: str, line: int, column: int, sightings: Sequence[Sighting]
) -> HoverText | None:
    """A name is narrower than the expression that reads it; one that is assigned is what it is given."""
    document = snapshot.documents.get(path)
    variable = None if document is None else variable_at(document, line, column)
    if variable is None:
        return None
    focus = focus_on(snapshot, path)
    if variable.value is not None:
        given = sightings_of(snapshot, path, variable.value)
        return _hover(_expression_facts(given, focus), variable.span) if given else None
    return _hover(variable_facts(variable.name, holdings(variable.name, sightings), focus), variable.span)


def _hover(facts: Sequence[Part], span: Span) -> HoverText | None:
    return HoverText(tuple(facts), span) if facts else None


def _expression_hover(snapshot: Snapshot, path: str, sightings: Sequence[Sighting]) -> HoverText | None:
    return _hover(_expression_facts(sightings, focus_on(snapshot, path)), sightings[0].span)


def _module_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """An attribute is narrower than the expression that made what it holds."""
    document = snapshot.documents.get(path)
    attribute = None if document is None else attribute_path_at(document, line, column)
    named = [] if attribute is None else modules_named(snapshot, path, attribute)
    if attribute is not None and named:
        return _hover(modules_facts(named, focus_on(snapshot, path)), attribute.span)
    made = modules_made_at(snapshot, path, line, column)
    return None if made is None else _hover(modules_facts(made[1], focus_on(snapshot, path)), made[0])


def _name_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    for model in (each.model for each in outline(snapshot, path)):
        if model.name.contains(line, column):
            return _hover(class_facts(snapshot, path, model), model.name)
        if model.forward is not None and model.forward.name.contains(line, column):
            return _hover(forward_facts(snapshot, path, model), model.forward.name)
    return None


def _expression_facts(sightings: Sequence[Sighting], focus: Focus) -> list[Part]:
    runs = [Run(each.state, each.index, event) for each in sightings for event in each.place.events]
    if not runs:
        return _through_facts(sightings, focus)
    shown = focus.on(runs)
    origins = origins_of(run.state for run in (*shown, *runs))
    return [*(_one_run(runs[0]) if len(runs) == 1 else _several_runs(runs, shown, focus)), *origins]


def _one_run(run: Run) -> list[Part]:
    lines = [_headline(run.event.title, run), node_facts(run), *cost_facts(run.event), *warnings([run])]
    parts = [Run(run.state, run.index, part) for part in run.event.parts]
    return [*lines, runs_table(parts)] if len(parts) > 1 else [*lines]


def _several_runs(runs: Sequence[Run], shown: Sequence[Run], focus: Focus) -> list[Part]:
    """The run that counts, with what tells it apart if the user chose it, above the table of all."""
    more = words(f", and {len(runs) - len(shown)} more" if len(shown) == 1 else f", and {len(runs) - 1} more")
    first = _headline(_common_title(shown), shown[0]) + more
    above = [first, node_facts(shown[0])] if len(shown) == 1 else [first]
    return [*above, runs_table(runs, focus.holds), *warnings(runs)]


def _common_title(runs: Sequence[Run]) -> str:
    """The title of all runs; else their class, else how many there are."""
    titles = {run.event.title for run in runs}
    heads = {title.partition("(")[0] for title in titles}
    if len(titles) == 1:
        return titles.pop()
    return f"{heads.pop()}(…)" if len(heads) == 1 else f"{len(heads)} kinds of modules or functions"


def _headline(title: str, run: Run) -> RichText:
    flow = flow_text(run.event.inputs, run.event.output, run.index.usual_dtype)
    dtype = run.dtype
    facts = [code(title), code(flow) + words(f" {dtype}" if dtype else "")]
    return dotted(facts) + words(STALE if is_stale(run.state) else "")


def _through_facts(sightings: Sequence[Sighting], focus: Focus) -> list[Part]:
    """For a call of a function that is not a module's: the nodes that arose in it."""
    nodes = focus.on([Run(each.state, each.index, event) for each in sightings for event in each.place.through])
    stale = STALE if any(is_stale(each.state) for each in sightings) else ""
    first = words(f"{counted(len(nodes), 'node')} from the functions called here{stale}")
    return [first, runs_table(nodes), *origins_of(run.state for run in nodes)]
