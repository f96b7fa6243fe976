"""Fixes that leave checks and messages out of graphs: ``if not torch.compiler.is_compiling():``.

Both torch.compile and torch.export take that for false, a plain run and torch.fx for true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.torch_names import full_name, spelling
from fxlsp.ide.fixes.evidence.traced_values import is_pure, is_shadowed
from fxlsp.ide.fixes.fix import Edit, Fix, FixContext, is_continued
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import PythonTree

_COMPILING = "torch.compiler.is_compiling"
_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGERS = ("log", "logger", "logging")
_BINDS_LOOSER = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
"""Expressions that need parentheses beside ``and`` and ``or``."""


def message_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a statement that prints, warns or logs, and does nothing else."""
    tree = context.tree
    statement = tree.node_at(context.span, ast.Expr)
    if statement is None or not isinstance(statement.value, ast.Call) or not _is_message(tree, statement.value):
        return
    if _binds(statement.value) or not _is_alone(tree, statement) or _has_long_text(statement):
        return
    name, imports = spelling(context, _COMPILING)
    start = tree.start(statement)
    head = f"if not {name}():{tree.newline}{tree.indentation(statement)}    "
    further = (tree.lines.offset(line, 1) for line in range(statement.lineno + 1, (statement.end_lineno or 0) + 1))
    edits = (context.edit(start, start, head), *(context.edit(each, each, "    ") for each in further))
    given = (*statement.value.args, *(each.value for each in statement.value.keywords))
    yield Fix(f"Leave it out of graphs with {name}", (*imports, *edits), preferred=is_pure(tree, *given))


def check_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for an assertion, and for an ``if`` that does nothing but raise."""
    tree = context.tree
    statement = tree.node_at(context.span, ast.Assert) or tree.node_at(context.span, ast.If)
    if statement is None or not tree.covers(statement.test, context.span):
        return
    if isinstance(statement, ast.If) and (statement.orelse or not isinstance(statement.body[0], ast.Raise)):
        return
    if _binds(statement.test) or any(isinstance(each, ast.Try) and each.handlers for each in tree.ancestors(statement)):
        return
    name, imports = spelling(context, _COMPILING)
    words = f"{name}() or " if isinstance(statement, ast.Assert) else f"not {name}() and "
    edits = (*imports, *_before(context, statement.test, words))
    yield Fix(f"Check it only outside of graphs with {name}", edits, preferred=is_pure(tree, statement.test))


def _before(context: FixContext, test: ast.expr, words: str) -> tuple[Edit, ...]:
    """Return the edits that write words before a condition, with parentheses where it needs them."""
    start, end = context.tree.start(test), context.tree.end(test)
    if isinstance(test, _BINDS_LOOSER):
        return context.edit(start, start, f"{words}("), context.edit(end, end, ")")
    return (context.edit(start, start, words),)


def _is_message(tree: PythonTree, call: ast.Call) -> bool:
    name = full_name(tree, call.func) or dotted(call.func) or ""
    if name == "print":
        return not is_shadowed(tree, name)
    owner, _, method = name.rpartition(".")
    return name == "warnings.warn" or (method in _LEVELS and owner.rpartition(".")[2].strip("_").lower() in _LOGGERS)


def _binds(expression: ast.expr) -> bool:
    """Return whether something behind an expression may need what it binds."""
    return any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in ast.walk(expression))


def _is_alone(tree: PythonTree, statement: ast.stmt) -> bool:
    """Return whether there is nothing else on the lines of a statement, apart from a comment."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    text, lines = tree.document.text, tree.lines
    before = text[lines.offset(first, 1) : tree.start(statement)]
    behind = text[tree.end(statement) : lines.offset(last, len(lines.line_text(last)) + 1)].strip()
    is_alone = not before.strip() and (not behind or behind.startswith("#"))
    return is_alone and (first == 1 or not is_continued(tree.document, first - 1))


def _has_long_text(statement: ast.stmt) -> bool:
    """Return whether a text in a statement has more than one line."""
    texts = (node for node in ast.walk(statement) if isinstance(node, ast.Constant | ast.JoinedStr))
    return any(node.lineno != node.end_lineno for node in texts)
