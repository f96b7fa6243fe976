"""Fix for ``assert condition`` on a traced value: ``torch._assert(...)``.

``torch._assert(condition, message)`` becomes a node of the graph.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.torch_names import spelling
from fxlsp.ide.fixes.fix import Fix, FixContext

_DECIDES = (
    *(ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Lambda, ast.Await),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr),
)
"""Expressions that need the truth of their parts, or run them in a scope of their own."""
_SYMBOLS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
"""Comparisons that torch.fx records; it cannot record ``in`` and ``is``."""

_KEYWORD = re.compile(r"assert\b[ \t]*")


def assertion_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for an assertion on one expression that torch.fx can record."""
    tree = context.tree
    statement = tree.node_at(context.span, ast.Assert)
    if statement is None or not tree.covers(statement, context.span) or not is_recordable(statement.test):
        return
    if statement.msg is not None and not _is_message(statement.msg):
        return
    start, end = tree.start(statement), tree.end(statement)
    keyword = _KEYWORD.match(tree.document.text, start)
    if keyword is None:
        return
    name, imports = spelling(context, "torch._assert")
    # The text after the keyword stays as it is, with its brackets and comments.
    suffix = ")" if statement.msg is not None else ', "")'
    opening, closing = context.edit(start, keyword.end(), f"{name}("), context.edit(end, end, suffix)
    title = f"Use {name}, which torch.fx records"
    if isinstance(statement.msg, ast.JoinedStr):
        # The text of an f-string is made while tracing, from proxies where it shows traced values.
        yield Fix(f"{title} with its message as it reads then", (*imports, opening, closing))
    else:
        yield Fix(title, (*imports, opening, closing), preferred=True)


def is_recordable(condition: ast.expr) -> bool:
    """Return whether the graph can compute a condition.

    It must not be converted to a bool on the way.
    """
    for node in ast.walk(condition):
        if isinstance(node, _DECIDES) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return False
        if isinstance(node, ast.Compare) and (len(node.ops) > 1 or not isinstance(node.ops[0], _SYMBOLS)):
            return False
    return isinstance(condition, ast.Compare | ast.Call | ast.Attribute | ast.Name | ast.Subscript | ast.BinOp)


def _is_message(message: ast.expr) -> bool:
    """Return whether the message can be made before the condition is known.

    It must be a text, with values in their default format.
    """
    if isinstance(message, ast.Constant):
        return isinstance(message.value, str)
    if not isinstance(message, ast.JoinedStr):
        return False
    parts = [part for part in message.values if isinstance(part, ast.FormattedValue)]
    # A proxy cannot be formatted with a format specification (``{x:.2f}``).
    return all(part.format_spec is None and _is_plain(part.value) for part in parts)


def _is_plain(value: ast.expr) -> bool:
    return not any(isinstance(node, (*_DECIDES, ast.Compare)) for node in ast.walk(value))
