"""Where the names of a file's models stand."""

from __future__ import annotations

from fxlsp.source.documents import Document
from fxlsp.source.models import Factory, Instance, factories, instances, model_classes
from fxlsp.source.positions import Span


def made_models(document: Document) -> tuple[Factory | Instance, ...]:
    """The models of a file that are no classes."""
    return (*factories(document), *instances(document))


def name_spans(document: Document) -> dict[str, Span]:
    """The name of each model of the file, where it is defined or assigned."""
    classes = {model.qualname: model.name for model in model_classes(document)}
    return classes | {made.name: made.name_span for made in made_models(document)}
