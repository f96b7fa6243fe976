"""The attribute of ``self`` under the cursor: ``self.layers[0].conv`` as the module path it spells."""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import field, span_of, text_of

_KEYS = {"integer", "string"}


class AttributePath(NamedTuple):
    """A chain of attributes and constant indexes that begins at ``self``."""

    parts: tuple[str, ...]
    """``("layers", "0", "conv")``."""
    span: Span


def attribute_path_at(document: Document, line: int, column: int) -> AttributePath | None:
    """The chain up to the name under the cursor; None elsewhere, and where an index is not a constant."""
    point = document.lines.to_bytes(line, column)
    name = document.tree.root_node.named_descendant_for_point_range(point, point)
    if name is None or name.type != "identifier":
        return None
    chain = name.parent
    if chain is None or chain.type != "attribute" or field(chain, "attribute") != name:
        return None
    parts = _parts(chain)
    return None if parts is None else AttributePath(parts, span_of(chain, document.lines))


def _parts(chain: Node) -> tuple[str, ...] | None:
    parts: list[str] = []
    node: Node | None = chain
    while node is not None and node.type in ("attribute", "subscript"):
        if node.type == "attribute":
            attribute = field(node, "attribute")
            parts.append("" if attribute is None else text_of(attribute))
            node = field(node, "object")
            continue
        key = _key(node)
        if key is None:
            return None
        parts.append(key)
        node = field(node, "value")
    is_own = node is not None and node.type == "identifier" and text_of(node) == "self"
    return tuple(reversed(parts)) if is_own and all(parts) else None


def _key(subscript: Node) -> str | None:
    """The one constant in the brackets."""
    keys = subscript.children_by_field_name("subscript")
    if len(keys) != 1 or keys[0].type not in _KEYS:
        return None
    content = [child for child in keys[0].named_children if child.type == "string_content"]
    return text_of(content[0]) if content else text_of(keys[0]) if keys[0].type == "integer" else None
