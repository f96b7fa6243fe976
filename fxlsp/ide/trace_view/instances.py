"""Instances of a class: the calls of its ``forward``, of which one can be chosen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.forwards import forward_runs
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.runs import ReportEvent, path_text
from fxlsp.wire.frames import text_digest


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
        flow = flow_text(run.event.inputs, run.event.output, run.index.usual_dtype)
        choice = InstanceChoice(_id(instance), instance, _text(instance, of), flow, instance == chosen)
        choices.setdefault(choice.id, choice)
    return list(choices.values())


def instances_of(runs: Sequence[ReportEvent]) -> Iterator[tuple[ForwardInstance, ReportEvent]]:
    """Yield each call with the instance that it is.

    A model traced with several recipes has the same instances in each of the traces.
    """
    met: Counter[tuple[int, str]] = Counter()
    for run in runs:
        path = run.event.module_path or ""
        met[id(run.state), path] += 1
        key = run.state.key
        yield ForwardInstance(key.file, key.name, path, met[id(run.state), path]), run


def _runs_of(snapshot: Snapshot, path: str, name: str) -> list[ReportEvent]:
    models = (each.model for each in outline(snapshot, path))
    model = next((model for model in models if model.qualname == name), None)
    return [] if model is None else forward_runs(snapshot, path, model)


def _id(instance: ForwardInstance) -> str:
    return text_digest(json.dumps(asdict(instance), sort_keys=True))[:16]


def _text(instance: ForwardInstance, turns: int) -> str:
    which = f" · call {instance.turn} of {turns}" if turns > 1 else ""
    return f"{instance.model} · {path_text(instance.module_path)}{which}"
