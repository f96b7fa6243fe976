"""Calls of a ``forward``: those that ran, the one that the user chose, and what ran inside it.

A choice applies in the file of its class: to the ``forward`` itself, and to everything else of the file that ran inside
the chosen call. If nothing of an expression ran inside, all its runs count as without a choice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.in_trace import Run, items_by_place
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.provenance import is_guessed
from fxlsp.ide.trace_view.runs import path_text
from fxlsp.report.graph import ModuleCall
from fxlsp.source.models.forward_defs import ForwardDef
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.positions import Span
from fxlsp.wire.frames import text_digest

T = TypeVar("T")


def forward_runs(snapshot: Snapshot, path: str, model: ModelClass) -> list[Run]:
    """Return every call in the last good reports that ran a class's ``forward``."""
    if model.forward is None:
        return []
    runs: list[Run] = []
    for span, calls in items_by_place(snapshot, path, lambda index: index.forwards(path)):
        if _starts(model.forward, span) if span is not None else _edited(model, calls.item):
            runs += (calls.beside(event) for event in _events(calls.item))
    return runs


def forward_text(runs: Sequence[Run], shown: Sequence[Run]) -> str | None:
    """Return ``layer1.0 (+7 more): (1, 64, 56, 56) → (1, 64, 56, 56)``.

    Guessed shapes have a mark: ``~(1, 64, 56, 56) → (1, 64, 56, 56)``. None if no run has a known input or output.

    Args:
        shown: the runs of which the first is shown: all, or those that the user chose.
    """
    first = next(filter(_is_known, (*shown, *runs)), None)
    if first is None:
        return None
    guessed = "~" if is_guessed(first.index.report) else ""
    flow = guessed + flow_text(first.item.inputs, first.item.output, first.index.usual_dtype)
    more = f"(+{len(runs) - 1} more)" if len(runs) > 1 else ""
    which = " ".join(filter(None, [first.item.module_path, more]))
    chosen = " · chosen" if len(shown) < len(runs) and first is shown[0] else ""
    return (f"{which}: {flow}" if which else flow) + chosen


def _is_known(run: Run) -> bool:
    return any(value is not None for value in (*run.item.inputs, run.item.output))


def _starts(forward: ForwardDef, span: Span) -> bool:
    """Return whether ``span`` is where Python reports the start of the function.

    That is its ``def`` line, or the line of its first decorator.
    """
    return forward.extent.line <= span.line <= forward.name.line


def _edited(model: ModelClass, calls: Sequence[ModuleCall]) -> bool:
    """Return whether calls belong to a class whose ``def`` line was edited.

    The location of the ``def`` is lost then, but the class name still identifies it.
    """
    return calls[0].type == model.qualname.rpartition(".")[2]


def _events(calls: Sequence[ModuleCall]) -> Iterator[Event]:
    return (Event(call, call.first_node, max(call.first_node, call.end_node)) for call in calls)


@dataclass(frozen=True, slots=True)
class InstanceChoice:
    """One of the calls that ran a ``forward``."""

    id: str
    """Digest of the instance, the same in each trace."""
    instance: ForwardInstance
    text: str
    """``ResNet · layer1.0 · call 2 of 3``."""
    flow: str
    """``(1, 64, 56, 56) → (1, 64, 56, 56)``."""
    chosen: bool


def instance_choices(snapshot: Snapshot, path: str, name: str) -> list[InstanceChoice]:
    """Return the instances that can be chosen for a class of an open file.

    They are in the order in which they ran, each once.
    """
    runs = _runs_of(snapshot, path, name)
    chosen = snapshot.instances.get(SymbolId(path, name))
    pairs = list(instances_of(runs))
    turns = Counter((each.file, each.model, each.module_path) for each, _ in pairs)
    choices: dict[str, InstanceChoice] = {}
    for instance, run in pairs:
        of = turns[instance.file, instance.model, instance.module_path]
        flow = flow_text(run.item.inputs, run.item.output, run.index.usual_dtype)
        choice = InstanceChoice(_id(instance), instance, _text(instance, of), flow, instance == chosen)
        choices.setdefault(choice.id, choice)
    return list(choices.values())


def instances_of(runs: Sequence[Run]) -> Iterator[tuple[ForwardInstance, Run]]:
    """Yield each call with the instance that it is.

    A model traced with several recipes has the same instances in each of the traces.
    """
    met: Counter[tuple[int, str]] = Counter()
    for run in runs:
        path = run.item.module_path or ""
        met[id(run.state), path] += 1
        key = run.state.key
        yield ForwardInstance(key.file, key.name, path, met[id(run.state), path]), run


def _runs_of(snapshot: Snapshot, path: str, name: str) -> list[Run]:
    models = (each.model for each in outline(snapshot, path))
    model = next((model for model in models if model.qualname == name), None)
    return [] if model is None else forward_runs(snapshot, path, model)


def _id(instance: ForwardInstance) -> str:
    return text_digest(json.dumps(asdict(instance), sort_keys=True))[:16]


def _text(instance: ForwardInstance, turns: int) -> str:
    which = f" · call {instance.turn} of {turns}" if turns > 1 else ""
    return f"{instance.model} · {path_text(instance.module_path)}{which}"


@dataclass(frozen=True, slots=True)
class Focus:
    """The chosen calls of one file."""

    calls: tuple[Run, ...] = ()
    """Inner ones first: of two that contain an expression, the inner one is meant."""

    def on(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs inside the innermost chosen call that contains any; else all."""
        return self.among(runs, lambda run: run)

    def on_calls(self, calls: Sequence[Run]) -> list[Run]:
        """Return the calls of a ``forward`` as :meth:`on`, where a chosen call counts too."""
        return self.among(calls, lambda call: call, calls=True)

    def among(self, items: Sequence[T], run_of: Callable[[T], Run], *, calls: bool = False) -> list[T]:
        """Return the items whose run is in focus, as :meth:`on` or :meth:`on_calls`.

        Args:
            run_of: returns the run of an item.
            calls: whether the items are calls of a ``forward``, as for :meth:`on_calls`.
        """
        for chosen in self.calls:
            held = [item for item in items if _holds(chosen, run_of(item), calls)]
            if held:
                return held
        return list(items)

    def holds(self, run: Run) -> bool:
        """Return whether the run is a chosen call or inside one."""
        return any(_holds(call, run, True) for call in self.calls)


def focus_on(snapshot: Snapshot, path: str) -> Focus:
    """Return what the user chose for the classes of an open file."""
    return Focus(tuple(sorted(_chosen_calls(snapshot, path), key=_extent)))


def _chosen_calls(snapshot: Snapshot, path: str) -> Iterator[Run]:
    for model in (each.model for each in outline(snapshot, path)) if snapshot.instances else ():
        chosen = snapshot.instances.get(SymbolId(path, model.qualname))
        if chosen is not None:
            for instance, run in instances_of(forward_runs(snapshot, path, model)):
                if instance == chosen:
                    yield run


def _extent(call: Run) -> tuple[int, int]:
    """Return a sort key that puts inner calls first.

    A call that does nothing but call another has the same nodes; the longer module path is the inner one.
    """
    return call.item.end - call.item.first, -len((call.item.module_path or "").split("."))


def _holds(call: Run, run: Run, itself: bool) -> bool:
    """Return whether ``run`` ran inside ``call``.

    Args:
        itself: whether ``run`` may be the call itself. The expression of that is in the caller.
    """
    if call.state is not run.state or not call.item.first <= run.item.first <= run.item.end <= call.item.end:
        return False
    if not isinstance(run.item.subject, ModuleCall) or not isinstance(call.item.subject, ModuleCall):
        return True
    # Of calls with the same nodes, the one that was called later is inside.
    entered, entered_first = call.index.order_of(run.item.subject), call.index.order_of(call.item.subject)
    return entered > entered_first or (itself and entered == entered_first)
