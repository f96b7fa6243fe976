"""Fix for a choice by a traced condition: ``torch.where(condition, one, other)``.

``torch.where`` is right only if the condition is a boolean tensor with one element, if both sides may be computed, and
if they have the same shape. A condition on shapes is a Python number when the model runs: ``torch.where`` refuses it,
so there is no fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.choices import choice_at
from fxlsp.ide.fixes.evidence.scalars import truth_of_tensor
from fxlsp.ide.fixes.evidence.torch_names import spelling
from fxlsp.ide.fixes.evidence.traced_values import is_tensor_expression, shape_operands
from fxlsp.ide.fixes.fix import Fix, FixContext


def where_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a conditional expression or statement that chooses a value."""
    tree = context.tree
    choice = choice_at(context)
    test = None if choice is None else truth_of_tensor(tree, choice.test)
    if choice is None or test is None or not is_tensor_expression(tree, choice.one, choice.other):
        return
    name, imports = spelling(context, "torch.where")
    text = f"{choice.before}{name}({test}, {tree.text(choice.one)}, {tree.text(choice.other)})"
    edit = context.edit(tree.start(choice.first), tree.end(choice.last), text)
    same = shape_operands(tree, choice.one) == shape_operands(tree, choice.other)
    title = f"Choose with {name}, which computes both sides"
    # A tensor is compared in its own precision, a number that was made of it in that of Python.
    is_same_test = test == tree.text(choice.test)
    words = title if same else f"{title}: they must have one shape and dtype"
    yield Fix(words, (*imports, edit), preferred=same and is_same_test)
