"""``x.requires_grad = value`` on a traced tensor: ``x.requires_grad_(value)``, which becomes a node of the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.fix import Complaint, Fix

_EQUALS = re.compile(r"[ \t]*=[ \t]*")


def in_place_methods(complaint: Complaint) -> Iterator[Fix]:
    """The fix for an attribute that a method of the tensor sets too, of no other target in the same statement."""
    tree = complaint.tree
    statement = tree.node_at(complaint.span, ast.Assign)
    if statement is None or not tree.covers(statement, complaint.span) or len(statement.targets) > 1:
        return
    (target,) = statement.targets
    if not (isinstance(target, ast.Attribute) and target.attr == "requires_grad"):
        return
    behind = tree.end(target)
    equals = _EQUALS.match(tree.document.text, behind)
    if equals is None:
        return
    opening, end = complaint.edit(behind, equals.end(), "_("), tree.end(statement)
    title = "Set it by requires_grad_(), which torch.fx records"
    yield Fix(title, (opening, complaint.edit(end, end, ")")), preferred=True)
