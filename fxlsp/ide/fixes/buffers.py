"""A tensor attribute that a graph takes for a constant: ``self.register_buffer("name", tensor)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.class_context import Assignment, ClassAround, attribute_of_self, class_around, initialises_module
from fxlsp.ide.fixes.fix import Complaint, Edit, Fix
from fxlsp.ide.fixes.torch_names import full_name
from fxlsp.source.python.python_tree import PythonTree

_FACTORIES = frozenset(
    {
        *("tensor", "as_tensor", "zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange"),
        *("linspace", "logspace", "eye", "from_numpy", "stack", "cat", "tril", "triu", "zeros_like", "ones_like"),
        *("full_like", "sin", "cos", "exp", "log", "sqrt", "outer", "hann_window", "hamming_window"),
    }
)
"""Functions of torch's that make one tensor."""

_NOT_TENSORS = frozenset(
    {"item", "tolist", "numpy", "size", "dim", "numel", "requires_grad_", "split", "chunk", "unbind", "data_ptr", "max"}
)
"""Methods of a tensor that give something else, several tensors, or one with a gradient."""

_EQUALS = re.compile(r"[\s\\]*=[\s\\]*")


def buffers(complaint: Complaint) -> Iterator[Fix]:
    """Two fixes: a buffer that is saved with the model, and one that leaves the state dictionary as it is."""
    found = _assignment(complaint)
    if found is None:
        return
    name = found.target.attr
    for title, behind in (
        (f"Register {name} as a buffer", ")"),
        (f"Register {name} as a buffer that the state_dict leaves out", ", persistent=False)"),
    ):
        edits = _edits(complaint, found, behind)
        if edits is not None:
            yield Fix(title, edits, preferred=behind == ")")


def _assignment(complaint: Complaint) -> Assignment | None:
    """The assignment in ``__init__`` of the attribute that the problem is about."""
    tree = complaint.tree
    attribute = tree.node_at(complaint.span, ast.Attribute)
    around = None if attribute is None else class_around(tree, attribute)
    # A constant that is computed from the attribute would be computed from the buffer as well.
    if attribute is None or around is None or not tree.is_at(attribute, complaint.span):
        return None
    owner, method = around
    name = attribute_of_self(attribute, method)
    return None if name is None else _registrable(owner, name)


def _registrable(owner: ClassAround, name: str) -> Assignment | None:
    """The one assignment of an attribute, if it makes a tensor where buffers can be registered."""
    found = owner.only_assignment(name)
    if found is None or found.method.name != "__init__" or not owner.bases_known:
        return None
    statement = found.statement
    if not initialises_module(found.method, statement.lineno) or not _is_tensor(owner.tree, found.value):
        return None
    return found


def _is_tensor(tree: PythonTree, expression: ast.expr) -> bool:
    """Whether an expression evidently makes a tensor that needs no gradient."""
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


def _edits(complaint: Complaint, found: Assignment, behind: str) -> tuple[Edit, ...] | None:
    tree, statement = complaint.tree, found.statement
    target_end = tree.end(found.target)
    annotation = ""
    if isinstance(statement, ast.AnnAssign):
        target_end = tree.end(statement.annotation)
        # The type of a buffer is known to type checkers by its annotation alone.
        annotation = (
            f"{tree.document.text[tree.start(statement) : target_end]}{tree.newline}{tree.indentation(statement)}"
        )
    equals = _EQUALS.match(tree.document.text, target_end)
    if equals is None or (annotation and not _starts_line(tree, statement)):
        return None
    receiver = tree.text(found.target.value)
    opening = f'{annotation}{receiver}.register_buffer("{found.target.attr}", '
    start, end = tree.start(statement), tree.end(statement)
    return complaint.edit(start, equals.end(), opening), complaint.edit(end, end, behind)


def _starts_line(tree: PythonTree, statement: ast.stmt) -> bool:
    return tree.start(statement) == tree.lines.offset(statement.lineno, len(tree.indentation(statement)) + 1)
