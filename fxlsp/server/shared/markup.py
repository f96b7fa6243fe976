"""Rich text in the form that the editor renders."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.render.rich_text import RichText
from fxlsp.server.shared.capabilities import Support


def markup(text: RichText, support: Support) -> types.MarkupContent:
    """Return text as Markdown where the editor renders it, else as plain text.

    Tables are Markdown tables only if the editor renders those too.
    """
    if support.markdown:
        value = text.tabular if support.markdown_tables else text.markdown
        return types.MarkupContent(kind=types.MarkupKind.Markdown, value=value)
    return types.MarkupContent(kind=types.MarkupKind.PlainText, value=text.plain)
