"""Edits of documents whose texts before and after are given."""

from __future__ import annotations

from fxlsp.source.text.diff import edits_between
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import DocumentEdit


def edit_between(before: Document, after: Document) -> DocumentEdit:
    """Return the edit as an editor sends it that replaces no more than what differs."""
    return DocumentEdit.of(before, after, edits_between(before.text, after.text))
