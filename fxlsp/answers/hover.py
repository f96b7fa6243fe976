"""What a hover says about an expression of a ``forward``, a model class, or the name of its ``forward``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.answers.classes import class_summary, forward_summary
from fxlsp.answers.counts import counted
from fxlsp.answers.facts import cost_facts, node_facts, warnings
from fxlsp.answers.focus import Focus, focus_on
from fxlsp.answers.module_hover import modules_text
from fxlsp.answers.modules import modules_made_at, modules_named
from fxlsp.answers.origins import STALE, is_stale, origins_of
from fxlsp.answers.outline import outline
from fxlsp.answers.richtext import RichText, block, code, dotted, paragraphs, words
from fxlsp.answers.runs import Run, runs_table
from fxlsp.answers.shapes import flow_text
from fxlsp.answers.sightings import Sighting, sightings_at, sightings_of
from fxlsp.answers.tables import lines_left
from fxlsp.answers.variables import holdings, variable_text
from fxlsp.engine.store import Snapshot
from fxlsp.source.attribute_paths import attribute_path_at
from fxlsp.source.names import variable_at
from fxlsp.source.positions import Span


@dataclass(frozen=True, slots=True)
class HoverText:
    """What to show, and the expression it is about."""

    text: RichText
    span: Span


def hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """What the traces know about the place; None where they know nothing, since another server may."""
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
        return HoverText(_expression_text(given, focus), variable.span) if given else None
    text = variable_text(variable.name, holdings(variable.name, sightings), focus)
    return None if text is None else HoverText(text, variable.span)


def _expression_hover(snapshot: Snapshot, path: str, sightings: Sequence[Sighting]) -> HoverText:
    return HoverText(_expression_text(sightings, focus_on(snapshot, path)), sightings[0].span)


def _module_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """An attribute is narrower than the expression that made what it holds."""
    document = snapshot.documents.get(path)
    attribute = None if document is None else attribute_path_at(document, line, column)
    named = [] if attribute is None else modules_named(snapshot, path, attribute)
    if attribute is not None and named:
        return HoverText(modules_text(named, focus_on(snapshot, path)), attribute.span)
    made = modules_made_at(snapshot, path, line, column)
    return None if made is None else HoverText(modules_text(made[1], focus_on(snapshot, path)), made[0])


def _name_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    for model in (each.model for each in outline(snapshot, path)):
        if model.name.contains(line, column):
            return HoverText(class_summary(snapshot, path, model), model.name)
        if model.forward is not None and model.forward.name.contains(line, column):
            summary = forward_summary(snapshot, path, model)
            return HoverText(summary, model.forward.name) if summary else None
    return None


def _expression_text(sightings: Sequence[Sighting], focus: Focus) -> RichText:
    runs = [Run(each.state, each.index, event) for each in sightings for event in each.place.events]
    if not runs:
        return _through_text(sightings, focus)
    shown = focus.on(runs)
    origins = origins_of(run.state for run in (*shown, *runs))
    lines = _one_run(runs[0], origins) if len(runs) == 1 else _several_runs(runs, shown, origins, focus)
    return paragraphs(lines)


def _one_run(run: Run, origins: Sequence[RichText]) -> list[RichText]:
    lines = [_headline(run.event.title, run), node_facts(run), *cost_facts(run.event), *warnings([run])]
    parts = [Run(run.state, run.index, part) for part in run.event.parts]
    if len(parts) > 1:
        lines.append(block(runs_table(parts, lines_left(len(lines) + len(origins)))))
    return [*lines, *origins]


def _several_runs(
    runs: Sequence[Run], shown: Sequence[Run], origins: Sequence[RichText], focus: Focus
) -> list[RichText]:
    """The run that counts, with what tells it apart if the user chose it, above the table of all."""
    more = words(f", and {len(runs) - len(shown)} more" if len(shown) == 1 else f", and {len(runs) - 1} more")
    first = _headline(_common_title(shown), shown[0]) + more
    above = [first, node_facts(shown[0])] if len(shown) == 1 else [first]
    below = [*warnings(runs), *origins]
    return [*above, block(runs_table(runs, lines_left(len(above) + len(below)), focus.holds)), *below]


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


def _through_text(sightings: Sequence[Sighting], focus: Focus) -> RichText:
    """For a call of a function that is not a module's: the nodes that arose in it."""
    nodes = focus.on([Run(each.state, each.index, event) for each in sightings for event in each.place.through])
    stale = STALE if any(is_stale(each.state) for each in sightings) else ""
    first = words(f"{counted(len(nodes), 'node')} from the functions called here{stale}")
    origins = origins_of(run.state for run in nodes)
    return paragraphs([first, block(runs_table(nodes, lines_left(1 + len(origins)))), *origins])
