"""Edit that writes a recipe as a comment above its model.

The comment has the form ``# fxlsp: Net(10)(torch.randn(1, 3))``.
"""

from __future__ import annotations

from fxlsp.ide.fixes.fix import Edit
from fxlsp.ide.trace_view.provenance import readable_recipe, recipe_text
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import (
    Factory,
    ModelClass,
    ModelInstance,
    factories,
    header_of,
    instances,
    model_classes,
)
from fxlsp.source.python.comments import recipe_comments
from fxlsp.source.python.expressions import parse_expression, write
from fxlsp.source.recipes.invented import has_invented_parts
from fxlsp.source.recipes.recipes import parse_recipe
from fxlsp.source.text.documents import Document

_FORM_FEED = "\f"


class NotWritableError(Exception):
    """Recipe that no comment can express; the message is for the user."""


def recipe_comment(document: Document, name: str, recipe: Recipe) -> Edit | None:
    """Return the edit that writes a recipe above a model and its decorators.

    A recipe comment that is there already is replaced; None if it has the same text.

    Args:
        recipe: in names that the document defines or imports.

    Raises:
        NotWritableError: there is no such model in the text, or the comment would be read as another recipe.
    """
    model = _model(document, name)
    if model is None or not document.parses:
        raise NotWritableError(f"There is no model {name} in a text that parses: the comment has no place.")
    text = _comment(recipe, name, isinstance(model, ModelInstance))
    header = header_of(document, model)
    present = next(recipe_comments(document, header), None)
    if present is not None:
        return None if present.text == text else Edit(present.span, text)
    line = document.lines.line_text(header.line)
    indentation = line[: len(line) - len(line.lstrip())]
    start = document.lines.offset(header.line, 1)
    # A form feed at the start of a line is not part of the indentation.
    return Edit(document.lines.span(start, start), f"{indentation.lstrip(_FORM_FEED)}# fxlsp: {text}{document.newline}")


def _comment(recipe: Recipe, name: str, instance: bool) -> str:
    """Return the text of the comment.

    Raises:
        NotWritableError: read again, it would be another recipe.
    """
    text = recipe_text(recipe)
    if has_invented_parts(recipe):
        raise NotWritableError(
            f"{readable_recipe(recipe)} cannot be written: … is what a search made up. "
            "Write the comment by hand, with what the model is made and fed with."
        )
    expression = parse_expression(text)
    if expression is not None and "\n" in text:
        text = write(expression)
    read = parse_recipe(text, name, "comment", instance)
    if expression is None or text.startswith("ignore") or _parts(read) != _parts(recipe):
        raise NotWritableError(f"{text} cannot be written as one expression that makes {name} and feeds it.")
    return text


def _parts(recipe: Recipe) -> tuple[str, str | None]:
    """Return ``init`` and ``inputs`` in normal form, regardless of layout."""
    made = parse_expression(recipe.init)
    fed = None if recipe.inputs is None else parse_expression(f"_({recipe.inputs})")
    return write(made) if made is not None else recipe.init, None if fed is None else write(fed)


def _model(document: Document, name: str) -> ModelClass | Factory | ModelInstance | None:
    """Return the model of that name; of several the last, which Python keeps."""
    found: list[ModelClass | Factory | ModelInstance] = [
        each for each in model_classes(document) if each.qualname == name
    ]
    found += [each for each in factories(document) if each.name == name]
    found += [each for each in instances(document) if each.name == name]
    return found[-1] if found else None
