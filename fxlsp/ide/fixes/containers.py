"""Fix for modules or parameters in a Python list or dict of the model.

The fix is ``nn.ModuleList`` or another container of torch, which registers them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from fxlsp.ide.fixes.evidence.class_context import EnclosingClass, SelfAssignment, enclosing_class, initialises_module
from fxlsp.ide.fixes.evidence.container_contents import Container, attribute_taken_from, contents
from fxlsp.ide.fixes.evidence.torch_names import spelling
from fxlsp.ide.fixes.evidence.traced_values import makes_module, makes_parameter
from fxlsp.ide.fixes.fix import Edit, Fix, FixContext
from fxlsp.source.python.expressions import dotted, first_of_chain
from fxlsp.source.python.python_tree import PythonTree

Kind = Literal["ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]

_METHODS: dict[Kind, frozenset[str]] = {
    "ModuleList": frozenset({"append", "extend", "insert", "pop"}),
    "ModuleDict": frozenset({"items", "keys", "values", "update", "pop", "clear"}),
    "ParameterList": frozenset({"append", "extend"}),
    "ParameterDict": frozenset({"items", "keys", "values", "update", "pop", "clear", "get", "setdefault"}),
}
"""Methods that Python's container and torch's both have."""

_RESERVED = frozenset(
    {"clear", "items", "keys", "pop", "update", "values", "type", "train", "eval", "forward", "float"}
)
"""Keys that torch's containers refuse, because they have attributes of these names."""


_FUNCTIONS = frozenset({"len", "enumerate", "zip", "reversed", "list", "tuple", "iter", "dict", "bool"})
_ASKERS = (ast.For, ast.comprehension, ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Starred)
"""Expressions that iterate over a container or test whether it is empty."""


def module_container_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for the container that holds the module of the problem."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    around = None if call is None else enclosing_class(tree, call)
    if call is None or around is None:
        return
    owner, method = around
    name = attribute_taken_from(method, call.func)
    if name is not None:
        yield from _registered(context, owner, name, ("ModuleList", "ModuleDict"))


def module_attribute_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for the container whose assignment the problem is at."""
    yield from _of_attribute(context, ("ModuleList", "ModuleDict"))


def parameter_attribute_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for the container of parameters whose assignment the problem is at."""
    yield from _of_attribute(context, ("ParameterList", "ParameterDict"))


def _of_attribute(context: FixContext, kinds: tuple[Kind, Kind]) -> Iterator[Fix]:
    target = context.tree.node_at(context.span, ast.Attribute)
    around = None if target is None else enclosing_class(context.tree, target)
    if target is not None and around is not None and isinstance(target.ctx, ast.Store):
        yield from _registered(context, around[0], target.attr, kinds)


def parameter_container_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fixes for the containers from which an operation takes parameters."""
    tree = context.tree
    operation = tree.node_at(context.span, ast.expr)
    around = None if operation is None else enclosing_class(tree, operation)
    if operation is None or around is None:
        return
    owner, method = around
    operands = [node for node in ast.walk(operation) if isinstance(node, ast.Subscript | ast.Name)]
    names = dict.fromkeys(attribute_taken_from(method, operand) for operand in operands)
    for name in names:
        if name is not None:
            yield from _registered(context, owner, name, ("ParameterList", "ParameterDict"))


def _registered(context: FixContext, owner: EnclosingClass, name: str, kinds: tuple[Kind, Kind]) -> Iterator[Fix]:
    """Yield the fix for one container.

    Args:
        kinds: the replacements for a list and for a dict.
    """
    found = _assignment(owner, name)
    container = None if found is None else contents(owner, found)
    if found is None or container is None:
        return
    owner = owner.owner_of(found)
    kind = kinds[container.is_dict]
    if not _is_replaceable(owner, found, container, kind):
        return
    made = next((each for each in container.elements if isinstance(first_of_chain(each), ast.Call)), None)
    callee = first_of_chain(made) if made is not None else None
    new_name, imports = spelling(context, f"torch.nn.{kind}", callee.func if isinstance(callee, ast.Call) else None)
    edits = _edits(context, found, new_name)
    what = "modules" if kind in ("ModuleList", "ModuleDict") else "parameters"
    yield Fix(f"Register the {what} of {name} with {new_name}", (*imports, *edits), preferred=True)


def _assignment(owner: EnclosingClass, name: str) -> SelfAssignment | None:
    """Return the assignment of the container, if modules can be registered there."""
    found = owner.only_assignment(name)
    if found is None or found.method.name == "forward":
        return None
    in_initializer = found.method.name == "__init__"
    return None if in_initializer and not initialises_module(found.method, found.statement.lineno) else found


def _is_replaceable(owner: EnclosingClass, found: SelfAssignment, container: Container, kind: Kind) -> bool:
    """Return whether torch's container accepts all elements and uses of this one."""
    tree, elements = owner.tree, container.elements
    is_for_modules = kind in ("ModuleList", "ModuleDict")
    return (
        bool(elements)
        and (_are_modules(tree, elements) if is_for_modules else all(makes_parameter(tree, each) for each in elements))
        and all(_is_key(key) for key in container.keys)
        and all(_is_possible(tree, use, kind) for use in owner.uses(found.target.attr))
    )


def _are_modules(tree: PythonTree, elements: tuple[ast.expr, ...]) -> bool:
    """Return whether all elements are modules.

    They are evidently modules, or the problem reports it for one and the others are made in the same way.
    """
    unknown = [each for each in elements if not makes_module(tree, each)]
    if any(not isinstance(each, ast.Call | ast.Name) for each in unknown):
        return False
    makers = {dotted(each.func) if isinstance(each, ast.Call) else None for each in unknown}
    if len(unknown) == len(elements):
        return len(elements) == 1 or (len(makers) == 1 and None not in makers)
    return not unknown


def _is_key(key: ast.expr) -> bool:
    """Return whether torch's containers accept a key."""
    if isinstance(key, ast.Constant):
        return isinstance(key.value, str) and key.value != "" and "." not in key.value and key.value not in _RESERVED
    if isinstance(key, ast.JoinedStr):
        return not any(isinstance(part, ast.Constant) and "." in str(part.value) for part in key.values)
    return isinstance(key, ast.Call) and dotted(key.func) == "str"


def _is_possible(tree: PythonTree, use: ast.Attribute, kind: Kind) -> bool:
    """Return whether torch's container supports one use of Python's."""
    parent = tree.parent(use)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _METHODS[kind] and isinstance(tree.parent(parent), ast.Call)
    if isinstance(parent, ast.Call):
        return dotted(parent.func) in _FUNCTIONS
    if isinstance(parent, ast.Subscript):
        return kind in ("ModuleList", "ParameterList") or not isinstance(parent.slice, ast.Slice)
    if isinstance(parent, ast.Compare):
        return all(isinstance(operator, ast.In | ast.NotIn) for operator in parent.ops)
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        return use is not parent.value
    return isinstance(parent, _ASKERS)


def _edits(context: FixContext, found: SelfAssignment, name: str) -> tuple[Edit, ...]:
    tree, value = context.tree, found.value
    edits = []
    if isinstance(found.statement, ast.AnnAssign):
        annotation = found.statement.annotation
        edits.append(context.edit(tree.start(annotation), tree.end(annotation), name))
    start, end = tree.start(value), tree.end(value)
    if is_empty(value):
        return (*edits, context.edit(start, end, f"{name}()"))
    if isinstance(value, ast.Call) and dotted(value.func) in ("list", "tuple") and len(value.args) == 1:
        return (*edits, context.edit(tree.start(value.func), tree.end(value.func), name))
    if isinstance(value, ast.Tuple) and tree.document.text[start] != "(":
        return (*edits, context.edit(start, start, f"{name}(("), context.edit(end, end, "))"))
    return (*edits, context.edit(start, start, f"{name}("), context.edit(end, end, ")"))


def is_empty(value: ast.expr) -> bool:
    """Return whether a value is ``[]``, ``{}``, ``list()`` or ``dict()``."""
    if isinstance(value, ast.List):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Call) and dotted(value.func) in ("list", "dict") and not value.args + value.keywords
