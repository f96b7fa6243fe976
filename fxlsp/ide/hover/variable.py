"""Hovers of variables in a ``forward``: the output of the node that made it.

The trace records at each node what the local variables held (``Node.variables``), so a hover shows what the variable
held when the expression around it ran. Where nothing was recorded, as in a ``return`` that computes nothing, there is
no hover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fxlsp.ide.hover.comment_text import comment_of_variable
from fxlsp.ide.hover.expression import symbolic_facts
from fxlsp.ide.hover.text import HoverText, Part
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.render.shapes import holds_tensor, output_text
from fxlsp.ide.trace_view.at_cursor import Hit
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.instances import Focus
from fxlsp.ide.trace_view.provenance import STALE, provenance_lines
from fxlsp.ide.trace_view.runs import runs_table, usual_dtype
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class HeldValue:
    """What a variable held in one run of the expression around it."""

    around: Run
    made: Run
    """The node whose output it was."""


def held_values(name: str, hits: Sequence[Hit]) -> list[HeldValue]:
    """Return what a read variable held in each run of the expression around it."""
    return [each for hit in hits for each in _values_in(name, hit)]


def _values_in(name: str, hit: Hit) -> Iterator[HeldValue]:
    for event in (*hit.item.events, *hit.item.through):
        made = hit.index.node(event.subject.variables.get(name, ""))
        if made is not None:
            yield HeldValue(hit.beside(event), hit.beside(made))


def variable_hover(name: str, found: Sequence[HeldValue], focus: Focus, span: Span) -> HoverText | None:
    """Return the variable's value and the node that made it; None without a tensor."""
    if not found:
        return None
    shown = focus.among(found, lambda each: each.around)
    first = shown[0].made
    if not holds_tensor(first.item.output):
        return None
    made = [each.made for each in found]
    rows = list({(id(run.state), run.item.first): run for run in made}.values())
    stale = STALE if first.state.is_stale else ""
    more = words(f", and {len(rows) - 1} more") if len(rows) > 1 else words("")
    dtype = usual_dtype(first)
    value = output_text(first.item.output, first.index.usual_dtype) + (f" {dtype}" if dtype else "")
    headline = dotted([code(name), code(value), _maker(first)]) + more + words(stale)
    table = [runs_table(rows)] if len(rows) > 1 else []
    facts: list[Part] = [
        headline,
        *symbolic_facts(first),
        *table,
        *provenance_lines(each.around.state for each in shown),
    ]
    return HoverText(tuple(facts), span, comment_lines=comment_of_variable(name, [each.made for each in shown]))


def _maker(run: Run) -> RichText:
    event: Event = run.item
    if event.is_argument:
        return words("as it came in")
    return words("made by ") + code(event.title)
