"""Fix for ``torch.zeros(n, 3)`` with a traced size: ``torch.zeros((n, 3))``.

torch.fx finds the proxy in a tuple; torch itself refuses proxies as separate sizes before that. All of the functions
below trace in this form, but not with each torch: 2.6 refuses proxies in a tuple, too, which the trace found out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.ide.fixes.fix import Edit, Fix, FixContext

_FACTORIES = frozenset({"torch.zeros", "torch.ones", "torch.empty", "torch.rand", "torch.randn"})
"""Functions that take separate sizes as well as a tuple."""
_METHODS = frozenset({"expand", "new_zeros", "new_ones", "new_empty"})
"""Methods of a tensor that do so too, and refuse a traced size if the tensor is a buffer."""

_OPENING = re.compile(r"\s*\(")
_CLOSING = re.compile(r"[\s)]*(?=,)")


def factory_size_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a call with separate sizes, or with one starred argument."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    if call is None or not call.args or not _takes_sizes(context, call.func):
        return
    stars = [argument for argument in call.args if isinstance(argument, ast.Starred)]
    if len(stars) == len(call.args) == 1 and "whole" not in context.refused_sizes:
        start = tree.start(stars[0])
        yield Fix("Pass the size whole", (context.edit(start, start + 1, ""),), preferred=True)
    elif not stars and len(call.args) > 1 and "tuple" not in context.refused_sizes:
        brackets = _brackets(context, call)
        if brackets is not None:
            yield Fix("Pass the size as a tuple", brackets, preferred=True)


def _takes_sizes(context: FixContext, called: ast.expr) -> bool:
    full = full_name(context.tree, called)
    if full is None:
        return isinstance(called, ast.Attribute) and called.attr in _METHODS
    return full in _FACTORIES


def _brackets(context: FixContext, call: ast.Call) -> tuple[Edit, Edit] | None:
    """Return the edits that put brackets before the first size and after the last."""
    tree = context.tree
    opening = _OPENING.match(tree.document.text, tree.end(call.func))
    if opening is None:
        return None
    if call.keywords:
        # Sizes may have brackets of their own, which end before the comma.
        closing = _CLOSING.match(tree.document.text, tree.end(call.args[-1]))
        if closing is None:
            return None
        end = closing.end()
    else:
        end = tree.end(call) - 1
    return context.edit(opening.end(), opening.end(), "("), context.edit(end, end, ")")
