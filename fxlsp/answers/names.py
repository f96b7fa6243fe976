"""Where the names of a file's models stand."""

from __future__ import annotations

from fxlsp.answers.outline import outline
from fxlsp.engine.store import Snapshot
from fxlsp.source.documents import Document
from fxlsp.source.models import Factory, Instance, factories, instances
from fxlsp.source.positions import Span


def made_models(document: Document) -> tuple[Factory | Instance, ...]:
    """The models of a file that are no classes."""
    return (*factories(document), *instances(document))


def name_spans(snapshot: Snapshot, path: str) -> dict[str, Span]:
    """The name of each model of an open file, where it is defined or assigned."""
    document = snapshot.documents.get(path)
    classes = {each.model.qualname: each.model.name for each in outline(snapshot, path)}
    return classes | {made.name: made.name_span for made in (made_models(document) if document else ())}
