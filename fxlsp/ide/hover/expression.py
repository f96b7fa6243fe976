"""Hovers of expressions in a ``forward``: nodes and calls, with shapes and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.ide.hover.comment_text import comment_of_runs
from fxlsp.ide.hover.text import HoverText, Part
from fxlsp.ide.render.numbers import counted, flops_text, params_text
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.render.shapes import flow_text, symbol_facts, symbolic_text, symbols_in
from fxlsp.ide.trace_view.at_cursor import Hit
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.instances import Focus
from fxlsp.ide.trace_view.provenance import STALE, provenance_lines
from fxlsp.ide.trace_view.runs import is_assumed, path_text, runs_table, turn_of, usual_dtype
from fxlsp.report.graph import ModuleCall
from fxlsp.source.text.positions import Span


def expression_hover(hits: Sequence[Hit], focus: Focus, span: Span) -> HoverText:
    """Return what ran at an expression, in all its runs.

    If nothing ran at the expression itself, what ran in the functions called there.

    Args:
        hits: at least one.
        span: the span to mark.
    """
    runs = [each.beside(event) for each in hits for event in each.item.events]
    if not runs:
        return HoverText((*_through_facts(hits, focus),), span)
    shown = focus.on(runs)
    provenance = provenance_lines(run.state for run in (*shown, *runs))
    facts = _one_run(runs[0]) if len(runs) == 1 else _several_runs(runs, shown, focus)
    return HoverText((*facts, *provenance), span, comment_lines=comment_of_runs(shown))


def _one_run(run: Run) -> list[Part]:
    lines = [
        _headline(run.item.title, run),
        _node_facts(run),
        *symbolic_facts(run),
        *_cost_facts(run.item),
        *_warnings([run]),
    ]
    parts = [run.beside(part) for part in run.item.parts]
    return [*lines, runs_table(parts)] if len(parts) > 1 else [*lines]


def _several_runs(runs: Sequence[Run], shown: Sequence[Run], focus: Focus) -> list[Part]:
    """Return the facts about the shown run, above the table of all.

    If the user chose the run, with what distinguishes it.
    """
    more = words(f", and {len(runs) - len(shown)} more" if len(shown) == 1 else f", and {len(runs) - 1} more")
    first = _headline(_common_title(shown), shown[0]) + more
    above = [first, _node_facts(shown[0]), *symbolic_facts(shown[0])] if len(shown) == 1 else [first]
    return [*above, runs_table(runs, focus.holds), *_warnings(runs)]


def _common_title(runs: Sequence[Run]) -> str:
    """Return the title of all runs; else their class, else the number of titles."""
    titles = {run.item.title for run in runs}
    heads = {title.partition("(")[0] for title in titles}
    if len(titles) == 1:
        return titles.pop()
    return f"{heads.pop()}(…)" if len(heads) == 1 else f"{len(heads)} kinds of modules or functions"


def _headline(title: str, run: Run) -> RichText:
    flow = flow_text(run.item.inputs, run.item.output, run.index.usual_dtype)
    dtype = usual_dtype(run)
    facts = [code(title), code(flow) + words(f" {dtype}" if dtype else "")]
    return dotted(facts) + words(STALE if run.state.is_stale else "")


def _through_facts(hits: Sequence[Hit], focus: Focus) -> list[Part]:
    """Return the nodes of functions called here, where no module is called."""
    nodes = focus.on([each.beside(event) for each in hits for event in each.item.through])
    stale = STALE if any(each.state.is_stale for each in hits) else ""
    first = words(f"{counted(len(nodes), 'node')} from the functions called here{stale}")
    return [first, runs_table(nodes), *provenance_lines(run.state for run in nodes)]


def _node_facts(run: Run) -> RichText:
    """Return node name, kind, module path, alias, and which call of its module it is."""
    event = run.item
    facts = list(_identity(event))
    if event.module_path is not None:
        facts.append(words("module path ") + code(path_text(event.module_path)))
    if event.call_path is not None and event.call_path != event.module_path and event.module_path is not None:
        facts.append(words("called as ") + code(path_text(event.call_path)))
    turn, turns = turn_of(run)
    if turns > 1:
        facts.append(words(f"call {turn} of {turns}"))
    return dotted(facts)


def symbolic_facts(run: Run) -> Iterator[RichText]:
    """Yield the output's shape as expressions, with the values of their symbols, if it is known."""
    text = symbolic_text(run.item.output)
    if text:
        known = symbols_in(run.item.output, run.index.report.symbols)
        facts = words(symbol_facts(known))
        # A size that depends on data is in the line above already.
        has_expressions = any(value is not None for value in known.values())
        yield code(text) + words(" ") + facts if has_expressions else facts


def _cost_facts(event: Event) -> Iterator[RichText]:
    """Yield parameters and FLOPs on one line, unless there are none."""
    params, flops = event.subject.params, event.subject.flops
    known = [params_text(params)] if params else []
    if flops != 0 and event.output is not None:
        known.append(flops_text(flops))
    if known:
        yield words(" · ".join(known))


def _warnings(runs: Sequence[Run]) -> Iterator[RichText]:
    """Yield what plain torch.fx would not have recorded of the runs, and whether a shape is assumed."""
    subjects = [run.item.subject for run in runs]
    nodes = [subject for subject in subjects if not isinstance(subject, ModuleCall)]
    if any(node.recovered for node in nodes):
        yield words("Recovered: plain torch.fx does not get this far.")
    if any(node.opaque for node in nodes):
        yield words("Opaque: the module was run whole, since its forward cannot be followed.")
    if any(is_assumed(run) for run in runs):
        yield words("Assumed: an operation fails, and this is its shape, or follows from it, once its operands fit.")


def _identity(event: Event) -> Iterator[RichText]:
    if isinstance(event.subject, ModuleCall):
        yield words(f"{counted(event.end - event.first, 'node')} inside")
    else:
        yield words("node ") + code(event.subject.name)
        yield code(event.subject.op)
