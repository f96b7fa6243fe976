"""Fix for an attribute of ``self`` that does not exist: the one that is written almost alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from fxlsp.ide.fixes.evidence.class_context import EnclosingClass, attribute_of_self, enclosing_class
from fxlsp.ide.fixes.fix import Fix, FixContext

_SIMILARITY = 0.7
"""Least one of the names, by difflib, as in the message."""


def misspelt_attribute_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix that reads the one similar attribute or method of the class.

    Not the preferred one: the attribute may be missing, and not its name wrong.
    """
    tree = context.tree
    attribute = tree.node_at(context.span, ast.Attribute)
    around = None if attribute is None else enclosing_class(tree, attribute)
    if attribute is None or around is None or not isinstance(attribute.ctx, ast.Load):
        return
    owner, method = around
    name = attribute_of_self(attribute, method)
    if name is None or not owner.bases_known or name in owner.names():
        return
    meant = _meant(name, owner)
    if meant is not None:
        end = tree.end(attribute)
        edit = context.edit(end - len(name), end, meant)
        yield Fix(f"Use {tree.text(attribute.value)}.{meant}", (edit,))


def _meant(name: str, owner: EnclosingClass) -> str | None:
    """Return the most similar name of the class; None if there is none, or another one is as similar."""
    private = name.startswith("_")
    known = sorted(each for each in owner.names() if each.startswith("_") <= private)
    ranked = sorted(((SequenceMatcher(None, each, name).ratio(), each) for each in known), reverse=True)[:2]
    if not ranked or ranked[0][0] < _SIMILARITY or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]
