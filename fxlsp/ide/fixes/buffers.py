"""Fix for a tensor attribute that becomes a constant of the graph.

The fix is ``self.register_buffer("name", tensor)``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.class_context import (
    EnclosingClass,
    SelfAssignment,
    attribute_of_self,
    enclosing_class,
    initialises_module,
)
from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.ide.fixes.fix import Edit, Fix, FixContext
from fxlsp.source.python.python_tree import PythonTree

_FACTORIES = frozenset(
    {
        *("tensor", "as_tensor", "zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange"),
        *("linspace", "logspace", "eye", "from_numpy", "stack", "cat", "tril", "triu", "zeros_like", "ones_like"),
        *("full_like", "sin", "cos", "exp", "log", "sqrt", "outer", "hann_window", "hamming_window"),
    }
)
"""Functions of torch that make one tensor."""

_NOT_TENSORS = frozenset(
    {"item", "tolist", "numpy", "size", "dim", "numel", "requires_grad_", "split", "chunk", "unbind", "data_ptr", "max"}
)
"""Methods of a tensor that return something else, several tensors, or one with a gradient."""

_EQUALS = re.compile(r"[\s\\]*=[\s\\]*")


def buffer_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield two fixes: a buffer that the state dictionary leaves out, and one that it has.

    The attribute was not saved before, so only the first loads the checkpoints of before: it is the preferred one.
    """
    found = _assignment(context)
    if found is None:
        return
    name = found.target.attr
    for title, suffix, is_saved in (
        (f"Register {name} as a buffer that the state_dict leaves out, as now", ", persistent=False)", False),
        (f"Register {name} as a buffer of the state_dict, which older checkpoints lack", ")", True),
    ):
        edits = _edits(context, found, suffix)
        if edits is not None:
            yield Fix(title, edits, preferred=not is_saved)


def _assignment(context: FixContext) -> SelfAssignment | None:
    """Return the assignment in ``__init__`` of the problem's attribute."""
    tree = context.tree
    attribute = tree.node_at(context.span, ast.Attribute)
    around = None if attribute is None else enclosing_class(tree, attribute)
    # A constant that is computed from the attribute would be computed from the buffer as well.
    if attribute is None or around is None or not tree.is_at(attribute, context.span):
        return None
    owner, method = around
    name = attribute_of_self(attribute, method)
    return None if name is None else _registrable(owner, name)


def _registrable(owner: EnclosingClass, name: str) -> SelfAssignment | None:
    """Return an attribute's only assignment if it makes a tensor that can be a buffer."""
    found = owner.only_assignment(name)
    if found is None or found.method.name != "__init__" or not owner.bases_known:
        return None
    statement = found.statement
    if not initialises_module(found.method, statement.lineno) or not _is_tensor(owner.tree, found.value):
        return None
    return found


def _is_tensor(tree: PythonTree, expression: ast.expr) -> bool:
    """Return whether an expression evidently makes a tensor that needs no gradient."""
    if isinstance(expression, ast.BinOp):
        return _is_tensor(tree, expression.left) or _is_tensor(tree, expression.right)
    if isinstance(expression, ast.UnaryOp):
        return not isinstance(expression.op, ast.Not) and _is_tensor(tree, expression.operand)
    if isinstance(expression, ast.Subscript):
        return _is_tensor(tree, expression.value)
    if not isinstance(expression, ast.Call) or any(each.arg == "requires_grad" for each in expression.keywords):
        return False
    full = full_name(tree, expression.func)
    if full is not None:
        return full.startswith("torch.") and full.removeprefix("torch.") in _FACTORIES
    if not isinstance(expression.func, ast.Attribute) or expression.func.attr in _NOT_TENSORS:
        return False
    return _is_tensor(tree, expression.func.value)


def _edits(context: FixContext, found: SelfAssignment, suffix: str) -> tuple[Edit, ...] | None:
    tree, statement = context.tree, found.statement
    target_end = tree.end(found.target)
    annotation = ""
    if isinstance(statement, ast.AnnAssign):
        target_end = tree.end(statement.annotation)
        # Type checkers know the type of a buffer only from its annotation.
        annotation = (
            f"{tree.document.text[tree.start(statement) : target_end]}{tree.newline}{tree.indentation(statement)}"
        )
    equals = _EQUALS.match(tree.document.text, target_end)
    if equals is None or (annotation and not _starts_line(tree, statement)):
        return None
    receiver = tree.text(found.target.value)
    opening = f'{annotation}{receiver}.register_buffer("{found.target.attr}", '
    start, end = tree.start(statement), tree.end(statement)
    return context.edit(start, equals.end(), opening), context.edit(end, end, suffix)


def _starts_line(tree: PythonTree, statement: ast.stmt) -> bool:
    return tree.start(statement) == tree.lines.offset(statement.lineno, len(tree.indentation(statement)) + 1)
