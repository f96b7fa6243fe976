"""Fix for ``x.requires_grad = value``: ``x.requires_grad_(value)``.

The method becomes a node of the graph, the assignment to a traced tensor does not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.fix import Fix, FixContext

_EQUALS = re.compile(r"[ \t]*=[ \t]*")


def tensor_attribute_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for an attribute that a method of the tensor sets too.

    The statement must have no other target.
    """
    tree = context.tree
    statement = tree.node_at(context.span, ast.Assign)
    if statement is None or not tree.covers(statement, context.span) or len(statement.targets) > 1:
        return
    (target,) = statement.targets
    if not (isinstance(target, ast.Attribute) and target.attr == "requires_grad"):
        return
    after = tree.end(target)
    equals = _EQUALS.match(tree.document.text, after)
    if equals is None:
        return
    opening, end = context.edit(after, equals.end(), "_("), tree.end(statement)
    title = "Set it by requires_grad_(), which torch.fx records"
    yield Fix(title, (opening, context.edit(end, end, ")")), preferred=True)
