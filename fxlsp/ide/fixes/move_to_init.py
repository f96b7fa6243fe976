"""Fix for a module constructed in ``forward``: construct it in ``__init__``."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from itertools import takewhile

from fxlsp.ide.fixes.evidence.class_context import (
    EnclosingClass,
    attribute_of_self,
    enclosing_class,
    initialises_module,
    self_of,
)
from fxlsp.ide.fixes.evidence.traced_values import is_stateless, module_class_name, only_value
from fxlsp.ide.fixes.fix import Edit, Fix, FixContext
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import Function, PythonTree

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def move_to_init_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a module whose arguments are known in ``__init__``."""
    tree = context.tree
    made = _made(context)
    around = None if made is None else enclosing_class(tree, made)
    if made is None or around is None:
        return
    owner, method = around
    if method.name == "__init__" or not owner.bases_known or not _is_movable(owner, method, made):
        return
    name = _free_name(owner, _preferred_name(tree, made))
    insertion = _insertion(context, owner, name, made)
    if insertion is not None:
        use = context.edit(tree.start(made), tree.end(made), f"{self_of(method)}.{name}")
        # A layer with weights has the same ones in each call then, and names in the state dict.
        is_same = is_stateless(tree, made)
        yield Fix(f"Make it once, in __init__, as self.{name}", (insertion, use), preferred=is_same)


def _made(context: FixContext) -> ast.Call | None:
    """Return the call that constructs the module, at the problem or called there."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    if call is None:
        return None
    made: ast.expr | None = call if module_class_name(tree, call) is not None else call.func
    function = tree.function_of(call)
    if isinstance(made, ast.Name) and function is not None:
        made = only_value(function, made.id)
    return made if isinstance(made, ast.Call) and module_class_name(tree, made) is not None else None


def _is_movable(owner: EnclosingClass, method: Function, made: ast.Call) -> bool:
    """Return whether ``__init__`` can construct the same module, once for all calls."""
    tree = owner.tree
    enclosing = list(takewhile(lambda each: each is not method, tree.ancestors(made)))
    if any(isinstance(each, ast.Lambda | Function) for each in enclosing):
        return False
    if any(isinstance(each, _LOOPS) for each in enclosing) and not is_stateless(tree, made):
        return False
    if owner.initializer is not None and self_of(owner.initializer) != self_of(method):
        return False
    return all(_is_known(owner, method, made, node) for node in ast.walk(made))


def _is_known(owner: EnclosingClass, method: Function, made: ast.Call, node: ast.AST) -> bool:
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return False
    if isinstance(node, ast.Attribute) and attribute_of_self(node, method) is not None:
        return _is_set_up(owner, node.attr)
    if isinstance(node, ast.Name) and node.id == self_of(method):
        return attribute_of_self(owner.tree.parent(node) or node, method) is not None
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        elsewhere = _locals(method) | (frozenset() if owner.initializer is None else _locals(owner.initializer))
        return node.id not in elsewhere or node.id in _locals(made)
    return True


def _locals(node: ast.AST) -> frozenset[str]:
    """Return the names that code binds."""
    stores = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    return frozenset(stores | {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)})


def _is_set_up(owner: EnclosingClass, name: str) -> bool:
    """Return whether ``__init__`` always gives an attribute its only value."""
    found = owner.only_assignment(name)
    initializer = owner.initializer
    return found is not None and initializer is not None and found.statement in initializer.body


def _preferred_name(tree: PythonTree, made: ast.Call) -> str:
    """Return the local name of the module, else its class in lower case."""
    parent = tree.parent(made)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.targets[0].id
    name = module_class_name(tree, made) or "module"
    return name.lower()


def _free_name(owner: EnclosingClass, preferred: str) -> str:
    name, count = preferred, 0
    while not owner.is_free(name) or keyword.iskeyword(name):
        count += 1
        name = f"{preferred}_{count}"
    return name


def _insertion(context: FixContext, owner: EnclosingClass, name: str, made: ast.Call) -> Edit | None:
    """Return the edit that constructs the module at the end of ``__init__``."""
    tree, initializer = context.tree, owner.initializer
    text = tree.text(made)
    if initializer is None:
        return _new_initializer(context, owner, f"self.{name} = {text}")
    if any(isinstance(node, ast.Return) for node in ast.walk(initializer)) or not initialises_module(initializer):
        return None
    last, line = initializer.body[-1], f"{self_of(initializer)}.{name} = {text}"
    if last.lineno == initializer.lineno:
        return context.edit(tree.end(last), tree.end(last), f"; {line}")
    row = last.end_lineno or last.lineno
    offset = tree.lines.offset(row, len(tree.lines.line_text(row)) + 1)
    return context.edit(offset, offset, f"{tree.newline}{tree.indentation(initializer.body[0])}{line}")


def _new_initializer(context: FixContext, owner: EnclosingClass, line: str) -> Edit | None:
    """Return the edit that adds an ``__init__`` before the class's first method.

    Returns None unless ``nn.Module`` is the only base, since another base may have an ``__init__`` of its own.
    """
    tree, first = context.tree, next(owner.methods([owner.statement]), None)
    bases = [(dotted(base) or "").rpartition(".")[2] for base in owner.statement.bases]
    if first is None or bases != ["Module"] or self_of(first) != "self":
        return None
    start = min([first.lineno, *(each.lineno for each in first.decorator_list)])
    outer = tree.indentation(first)
    inner = tree.indentation(first.body[0]) if first.body[0].lineno > first.lineno else f"{outer}    "
    lines = [f"{outer}def __init__(self):", f"{inner}super().__init__()", f"{inner}{line}", "", ""]
    offset = tree.lines.offset(start, 1)
    return context.edit(offset, offset, tree.newline.join(lines))
