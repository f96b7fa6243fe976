"""Fix for ``module.forward(x)``: ``module(x)``, a call that torch.fx records."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.class_context import attribute_of_self, enclosing_class
from fxlsp.ide.fixes.fix import Fix, FixContext


def forward_call_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a call of ``forward`` of a module of the model.

    The module must be an attribute of the model, or an item of one.
    """
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    around = None if call is None else enclosing_class(tree, call)
    if call is None or around is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "forward":
        return
    receiver = call.func.value
    while isinstance(receiver, ast.Attribute | ast.Subscript) and attribute_of_self(receiver, around[1]) is None:
        receiver = receiver.value
    if isinstance(receiver, ast.Attribute):
        end = tree.end(call.func)
        # Brackets around the receiver end between it and the dot.
        dot = tree.document.text.rindex(".", 0, end)
        yield Fix("Call the module itself", (context.edit(dot, end, ""),), preferred=True)
