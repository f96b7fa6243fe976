"""``assert condition`` on a traced value: ``torch._assert(condition, message)``, which becomes a node of the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.fix import Complaint, Fix
from fxlsp.ide.fixes.torch_names import spelling

_DECIDES = (
    *(ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Lambda, ast.Await),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr),
)
"""What needs the truth of its parts, or runs them in a scope of their own."""
_SYMBOLS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
"""The comparisons that torch.fx records; ``in`` and ``is`` it cannot."""

_KEYWORD = re.compile(r"assert\b[ \t]*")


def assertions(complaint: Complaint) -> Iterator[Fix]:
    """The fix for an assertion whose condition is one expression that torch.fx can record."""
    tree = complaint.tree
    statement = tree.node_at(complaint.span, ast.Assert)
    if statement is None or not tree.covers(statement, complaint.span) or not is_recordable(statement.test):
        return
    if statement.msg is not None and not _is_message(statement.msg):
        return
    start, end = tree.start(statement), tree.end(statement)
    keyword = _KEYWORD.match(tree.document.text, start)
    if keyword is None:
        return
    name, imports = spelling(complaint, "torch._assert")
    # What stands behind the keyword stays as it is, with its brackets and comments.
    behind = ")" if statement.msg is not None else ', "")'
    opening, closing = complaint.edit(start, keyword.end(), f"{name}("), complaint.edit(end, end, behind)
    title = f"Use {name}, which torch.fx records"
    if isinstance(statement.msg, ast.JoinedStr):
        # Its text is made while tracing, of proxies where it shows traced values.
        yield Fix(f"{title} with its message as it reads then", (*imports, opening, closing))
    else:
        yield Fix(title, (*imports, opening, closing), preferred=True)


def is_recordable(condition: ast.expr) -> bool:
    """Whether a condition becomes a value that the graph computes, without being asked for its truth on the way."""
    for node in ast.walk(condition):
        if isinstance(node, _DECIDES) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return False
        if isinstance(node, ast.Compare) and (len(node.ops) > 1 or not isinstance(node.ops[0], _SYMBOLS)):
            return False
    return isinstance(condition, ast.Compare | ast.Call | ast.Attribute | ast.Name | ast.Subscript | ast.BinOp)


def _is_message(message: ast.expr) -> bool:
    """Whether the message may be made before the condition is known: a text, of values as they print."""
    if isinstance(message, ast.Constant):
        return isinstance(message.value, str)
    if not isinstance(message, ast.JoinedStr):
        return False
    parts = [part for part in message.values if isinstance(part, ast.FormattedValue)]
    # A proxy cannot be formatted in a given way (``{x:.2f}``).
    return all(part.format_spec is None and _is_plain(part.value) for part in parts)


def _is_plain(value: ast.expr) -> bool:
    return not any(isinstance(node, (*_DECIDES, ast.Compare)) for node in ast.walk(value))
