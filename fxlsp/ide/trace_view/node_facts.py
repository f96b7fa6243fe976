"""The facts about a single node or module call, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.ide.render.numbers import counted, flops_text, params_text
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.runs import Run, path_text
from fxlsp.report.graph import ModuleCall


def node_facts(run: Run) -> RichText:
    """Node name, kind, module path, the other path that leads to it, and which call of its module it is."""
    event = run.event
    facts = list(_identity(event))
    if event.module_path is not None:
        facts.append(words("module path ") + code(path_text(event.module_path)))
    if event.call_path is not None and event.call_path != event.module_path and event.module_path is not None:
        facts.append(words("called as ") + code(path_text(event.call_path)))
    turn, turns = run.turn
    if turns > 1:
        facts.append(words(f"call {turn} of {turns}"))
    return dotted(facts)


def cost_facts(event: Event) -> Iterator[RichText]:
    """Parameters and floating-point operations on a line, unless there are none."""
    params, flops = event.subject.params, event.subject.flops
    known = [params_text(params)] if params else []
    if flops != 0 and event.output is not None:
        known.append(flops_text(flops))
    if known:
        yield words(" · ".join(known))


def warnings(runs: Sequence[Run]) -> Iterator[RichText]:
    """Whatever makes the runs less than what plain torch.fx records."""
    subjects = [run.event.subject for run in runs]
    nodes = [subject for subject in subjects if not isinstance(subject, ModuleCall)]
    if any(node.recovered for node in nodes):
        yield words("Recovered: plain torch.fx does not get this far.")
    if any(node.opaque for node in nodes):
        yield words("Opaque: the module was run whole, since its forward cannot be followed.")


def _identity(event: Event) -> Iterator[RichText]:
    if isinstance(event.subject, ModuleCall):
        yield words(f"{counted(event.end - event.first, 'node')} inside")
    else:
        yield words("node ") + code(event.subject.name)
        yield code(event.subject.op)
