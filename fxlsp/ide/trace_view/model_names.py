"""Where the names of a file's models stand."""

from __future__ import annotations

from collections.abc import Iterator

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.outline import moved_since, outline
from fxlsp.source.models.models import Factory, ModelInstance, factories, instances
from fxlsp.source.text.positions import Span


def class_names(snapshot: Snapshot, path: str) -> dict[str, Span]:
    """The name of each model class of an open file, in its class statement."""
    return {each.model.qualname: each.model.name for each in outline(snapshot, path)}


def made_names(snapshot: Snapshot, path: str) -> dict[str, Span]:
    """The name of each factory and instance of an open file, where it is defined or assigned."""
    return dict(_made(snapshot, path))


def _made(snapshot: Snapshot, path: str) -> Iterator[tuple[str, Span]]:
    document, move = moved_since(snapshot, path)
    models: tuple[Factory | ModelInstance, ...] = ()
    if document is not None:
        models = (*factories(document), *instances(document))
    for made in models:
        span = move(made.name_span)
        if span is not None:
            yield made.name, span
