"""Where the ``forward`` that a module call ran stands now, and whose it is."""

from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.module_call_at import Ran
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.targets import Target, target_of
from fxlsp.source.models.models import ModelClass


def forward_target(snapshot: Snapshot, ran: Ran) -> Target | None:
    """The ``forward`` that ran; None if it is torch's, or was edited away."""
    target = target_of(snapshot, ran.state, ran.entry.call.forward)
    model = None if target is None else class_around(snapshot, target)
    if target is None or model is None or model.forward is None:
        return target
    return replace(target, span=model.forward.name, extent=model.forward.extent)


def class_around(snapshot: Snapshot, target: Target) -> ModelClass | None:
    """The class that defines a ``forward``; None where its file is not open."""
    for each in outline(snapshot, target.path):
        forward = each.model.forward
        # Before Python 3.11 a trace knows the line alone, and that of a decorator if there is one.
        if forward is not None and forward.extent.line <= target.span.line <= forward.name.line:
            return each.model
    return None
