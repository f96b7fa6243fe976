"""Names and attributes that are missing, and that other code of the same files binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import TracebackType

import torch

from ..locations.class_text import code_of, function_at, tree_of
from ..locations.code_origin import is_torch


def may_be_set(owner: torch.nn.Module, name: str, raised: TracebackType, is_given: bool) -> bool:
    """Return whether a module may have an attribute that it lacks: if a caller sets it, or makes the module otherwise.

    ``is_given`` says that the constructor's arguments are the user's.
    """
    return _is_set_elsewhere(owner, name, raised) or (not is_given and _is_made_on_condition(owner, name))


def _is_set_elsewhere(owner: torch.nn.Module, name: str, raised: TracebackType) -> bool:
    """Return whether the files of a module's classes set an attribute that it lacks, for which a caller may wait.

    Neither the constructor nor the function that failed counts: they have run. The constructor of a subclass does.
    """
    classes = {cls.__name__ for cls in type(owner).__mro__ if not cls.__module__.startswith(("torch.", "builtins"))}
    codes = [code_of(each) for cls in type(owner).__mro__ for each in list(vars(cls).values())]
    files = {code.co_filename for code in codes if code is not None and not is_torch(code.co_filename)}
    return any(_sets(tree_of(file), name, file, raised, classes) for file in files)


def _is_made_on_condition(owner: torch.nn.Module, name: str) -> bool:
    """Return whether a constructor sets an attribute in a branch or loop alone, as other arguments may have it."""
    codes = [code_of(vars(cls)["__init__"]) for cls in type(owner).__mro__ if "__init__" in vars(cls)]
    known = [code for code in codes if code is not None and not is_torch(code.co_filename)]
    constructors = [function_at(tree_of(code.co_filename), code.co_firstlineno, "__init__") for code in known]
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name
        for constructor in constructors
        for statement in ([] if constructor is None else constructor.body)
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match))
        for node in ast.walk(statement)
    )


def is_layer_of_code(layer: torch.nn.Module, raised: TracebackType, lacking: str = "") -> bool:
    """Return whether the code that failed holds a layer of torch that its file makes itself, with whatever arguments.

    Each assignment to the attribute calls the class by its name, so that no caller passes another module. The file sets
    no attribute of the name ``lacking``.
    """
    code, owner = raised.tb_frame.f_code, raised.tb_frame.f_locals.get("self")
    made = code_of(type(layer).__init__)
    if not isinstance(owner, torch.nn.Module) or made is None or not is_torch(made.co_filename):
        return False
    held = {name for name, module in owner.named_children() if module is layer}
    assigned = [
        (target.attr, node.value)
        for node in ast.walk(tree_of(code.co_filename))
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
    ]
    values = [value for name, value in assigned if name in held]
    is_set = any(name == lacking for name, _ in assigned)
    return bool(values) and not is_set and all(_is_call_of(value, type(layer).__name__) for value in values)


def assigns_layer_of_code(raised: TracebackType) -> bool:
    """Return whether what a module refuses for one of its attributes is a layer that the file makes."""
    behind = raised.tb_next
    value = None if behind is None else behind.tb_frame.f_locals.get("value")
    return isinstance(value, torch.nn.Module) and is_layer_of_code(value, raised)


def _is_call_of(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == name


def is_set_later(raised: TracebackType) -> bool:
    """Return whether an attribute in the line that raised is None until a caller sets it, or calls what sets it.

    Such as ``self.mean`` that ``set_statistics`` sets, or a layer that ``build`` makes.
    """
    code, owner = raised.tb_frame.f_code, raised.tb_frame.f_locals.get("self")
    if not isinstance(owner, torch.nn.Module):
        return False
    tree, held = tree_of(code.co_filename), vars(owner)
    tables = [held, *(held.get(name, {}) for name in ("_parameters", "_buffers", "_modules"))]
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.lineno <= raised.tb_lineno <= (node.end_lineno or 0)
    }
    unset = {name for name in read if any(table.get(name, owner) is None for table in tables)}
    classes = {cls.__name__ for cls in type(owner).__mro__}
    return any(each.attr in unset for each in _stores_of_callers(tree, code.co_name, classes))


def _stores_of_callers(tree: ast.Module, running: str, classes: set[str]) -> Iterator[ast.Attribute]:
    """Yield attributes that methods of some classes set, but not their constructors, and those that functions set."""
    own = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name in classes]
    methods = [node for cls in own for node in cls.body if isinstance(node, ast.FunctionDef)]
    scopes = [each for each in methods if each.name not in ("__init__", running)]
    scopes_of_files = [node for node in tree.body if not isinstance(node, ast.ClassDef)]
    for scope in (*scopes, *scopes_of_files):
        for node in ast.walk(scope):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node


def may_be_bound(name: str, file: str) -> bool:
    """Return whether a file's top level binds a name: elsewhere, as with a GPU or a package, the statement may run."""
    definitions = (ast.FunctionDef, ast.ClassDef)
    parts = ([each] if isinstance(each, definitions) else ast.walk(each) for each in tree_of(file).body)
    return any(_binds(node, name) for nodes in parts for node in nodes)


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=bound, ctx=ast.Store()) | ast.FunctionDef(name=bound) | ast.ClassDef(name=bound):
            return bound == name
        case ast.alias(name=imported, asname=bound):
            return name == (bound or imported.partition(".")[0])
    return False


def _sets(node: ast.AST, name: str, file: str, raised: TracebackType, classes: set[str]) -> bool:
    match node:
        case ast.ClassDef(name=cls, bases=bases) if cls not in classes:
            # As a class of its own, but for the bases that it shares.
            classes = classes if classes.isdisjoint(ast.unparse(each).rpartition(".")[2] for each in bases) else set()
        case ast.FunctionDef(name="__init__") if classes:
            return False
        case ast.FunctionDef(lineno=first, end_lineno=int(last)) if first <= raised.tb_lineno <= last:
            if file == raised.tb_frame.f_code.co_filename:
                return False
        case ast.Attribute(attr=attr, ctx=ast.Store()) if attr == name:
            return True
        case ast.Call(
            func=ast.Name(id="setattr") | ast.Attribute(attr="register_buffer" | "register_parameter"), args=args
        ) if any(isinstance(each, ast.Constant) and each.value == name for each in args):
            return True
    return any(_sets(child, name, file, raised, classes) for child in ast.iter_child_nodes(node))
