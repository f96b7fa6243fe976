"""What the names and attributes of a file are bound to, as far as its text proves it.

A name that is bound twice, declared global or changed in place is bound to nothing that is known.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

Function = ast.FunctionDef | ast.AsyncFunctionDef

KEEPING = frozenset(
    ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "train", "eval", "requires_grad_", "contiguous")
) | {"detach", "clone"}
"""Methods whose result is the module, or a tensor of the same values and sizes."""
_LOOKING = frozenset(("summary", "watch"))
"""Functions that are given a module or a tensor and do not change it, whichever package has them."""


@dataclass(frozen=True, eq=False)
class Binding:
    """What binds a name; something else, which is not known, if every field is empty."""

    value: ast.expr | None = None
    definition: ast.ClassDef | Function | None = None
    parameter: ast.arg | None = None
    imported: str = ""
    """Dotted path of what is imported."""
    iterated: ast.expr | None = None
    """What a loop goes over, whose items are unpacked."""
    path: tuple[int, ...] = ()
    """Where in the item of a loop the value is."""


@dataclass(eq=False)
class TextScope:
    """Scope of a module, class or function, with the syntax that runs in it."""

    node: ast.Module | ast.ClassDef | Function
    parent: TextScope | None = None
    """The scope in which its free names are looked up."""
    owner: ast.ClassDef | None = None
    """The class whose method it is."""
    nodes: list[ast.AST] = field(default_factory=list)
    bindings: defaultdict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    changed: set[str] = field(default_factory=set)
    """Names whose values are changed in place."""

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding, unless it is one that leaves the value as it is: ``model = model.to(device)``."""
        value = None if binding.value is None else unwrapped(binding.value)
        if isinstance(value, ast.Name) and value.id == name:
            return
        if not (binding.imported and any(each.imported == binding.imported for each in self.bindings[name])):
            self.bindings[name].append(binding)

    @property
    def self_name(self) -> str | None:
        """Name of the instance inside a method; None elsewhere."""
        if self.owner is None or not isinstance(self.node, Function) or self.node.decorator_list:
            return None
        first = [*self.node.args.posonlyargs, *self.node.args.args][:1]
        return first[0].arg if first else None


@dataclass(frozen=True, eq=False)
class AttributeStore:
    """Assignment, deletion or other change of an attribute of that name of any object."""

    scope: TextScope
    is_own: bool
    """Whether it is one of ``self``."""
    value: ast.expr | None
    is_unconditional: bool
    """Whether the statement is one of the function's own body."""


class FileNames:
    """Names and attributes of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = TextScope(tree)
        self.scopes = [self.module]
        self.attributes: defaultdict[str, list[AttributeStore]] = defaultdict(list)
        self._known: dict[int, Binding] = {}
        """Bindings by the name node that is stored."""
        self._stored: dict[int, tuple[ast.expr, ast.stmt]] = {}
        """Assigned values and their statements, by the attribute node that is stored."""
        self._declared: set[str] = set()
        self._has_star = False
        for statement in tree.body:
            self._visit(statement, self.module)
        self.calls: defaultdict[ast.AST, list[tuple[ast.Call, TextScope]]] = defaultdict(list)
        """Calls of the functions and classes of the file, with their scopes."""
        for scope in self.scopes:
            self._read_calls(scope)
        for changed_by in (_changed, self._given_to_change):
            for scope in self.scopes:
                self._read_changes(scope, changed_by)

    def binding(self, name: str, scope: TextScope) -> tuple[Binding, TextScope] | None:
        """Return the only binding of a name, and its scope; None if there are others, or none."""
        found: TextScope | None = scope
        while found is not None:
            bindings = found.bindings.get(name)
            if bindings:
                is_changed = name in found.changed or name in self._declared or self._has_star
                return (bindings[0], found) if len(bindings) == 1 and not is_changed else None
            found = found.parent
        return None

    def imported(self, expression: ast.expr, scope: TextScope) -> str:
        """Return the dotted path of what an expression names by imports: ``torch.nn.functional``; "" if unknown."""
        if isinstance(expression, ast.Attribute):
            outer = self.imported(expression.value, scope)
            return f"{outer}.{expression.attr}" if outer else ""
        found = self.binding(expression.id, scope) if isinstance(expression, ast.Name) else None
        return "" if found is None else found[0].imported

    def own_attribute(self, name: str, owner: ast.ClassDef | None) -> AttributeStore | None:
        """Return the only assignment of ``self.name`` in a class; None if something else may assign it too."""
        stores = self.attributes.get(name, [])
        own = [each for each in stores if each.scope.owner is owner]
        may_be_other = any(not each.is_own for each in stores) or (len(stores) > 1 and self.has_subclass(owner))
        return own[0] if owner is not None and len(own) == 1 and not may_be_other else None

    def has_subclass(self, definition: ast.ClassDef | None) -> bool:
        """Return whether another class of the file names this one as a base."""
        return definition is not None and any(
            isinstance(base, ast.Name) and base.id == definition.name
            for scope in self.scopes
            if isinstance(scope.node, ast.ClassDef)
            for base in scope.node.bases
        )

    def torch_object(self, expression: ast.expr, scope: TextScope) -> object:
        """Return what of torch an expression names; None if it is not torch's."""
        first, *names = self.imported(expression, scope).split(".")
        if first != "torch":
            return None
        value: object = torch
        for name in names:
            value = getattr(value, name, None)
        return value

    def _visit(self, node: ast.AST, scope: TextScope) -> None:
        scope.nodes.append(node)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope.bind(node.name, Binding(definition=node))
                self._enter_function(node, scope)
                return
            case ast.ClassDef():
                scope.bind(node.name, Binding(definition=node))
                inner = TextScope(node, scope)
                self.scopes.append(inner)
                for statement in node.body:
                    self._visit(statement, inner)
                return
            case ast.Global() | ast.Nonlocal():
                self._declared.update(node.names)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.arg() | ast.ExceptHandler(name=str()) | ast.MatchAs(name=str()) | ast.MatchStar(name=str()):
                # Parameters of a lambda, whose body is read as a part of the scope around it.
                scope.bind(node.arg if isinstance(node, ast.arg) else str(node.name), Binding())
            case ast.Name(ctx=ast.Store() | ast.Del()):
                scope.bind(node.id, self._known.get(id(node), Binding()))
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                self._store(node, scope)
            case ast.stmt():
                self._assign(node)
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)

    def _enter_function(self, node: Function, scope: TextScope) -> None:
        owner = scope.node if isinstance(scope.node, ast.ClassDef) else None
        # A function in a class does not see the names of the class.
        inner = TextScope(node, scope if owner is None else scope.parent, owner)
        self.scopes.append(inner)
        arguments = node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            inner.bind(each.arg, Binding(parameter=each))
        for packed in (arguments.vararg, arguments.kwarg):
            if packed is not None:
                inner.bind(packed.arg, Binding())
        for statement in node.body:
            self._visit(statement, inner)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: TextScope) -> None:
        for alias in node.names:
            if alias.name == "*":
                self._has_star = True
            elif isinstance(node, ast.ImportFrom):
                path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                scope.bind(alias.asname or alias.name, Binding(imported=path))
            else:
                outermost = alias.name.partition(".")[0]
                scope.bind(alias.asname or outermost, Binding(imported=alias.name if alias.asname else outermost))

    def _assign(self, node: ast.stmt) -> None:
        """Note what the targets of a statement are assigned."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign_to(target, value, node)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign_to(target, value, node)
            case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
                self._iterate(target, iterated, ())

    def _assign_to(self, target: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        match target, value:
            case ast.Name(), _:
                self._known[id(target)] = Binding(value=value)
            case ast.Attribute(), _:
                self._stored[id(target)] = (value, statement)
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for each, given in zip(targets, values, strict=True):
                    self._assign_to(each, given, statement)

    def _iterate(self, target: ast.expr, iterated: ast.expr, path: tuple[int, ...]) -> None:
        if isinstance(target, ast.Name):
            self._known[id(target)] = Binding(iterated=iterated, path=path)
        elif isinstance(target, ast.Tuple):
            for index, each in enumerate(target.elts):
                self._iterate(each, iterated, (*path, index))

    def _store(self, node: ast.Attribute, scope: TextScope) -> None:
        value, statement = self._stored.get(id(node), (None, None))
        is_own = isinstance(node.value, ast.Name) and node.value.id == scope.self_name
        self.attributes[node.attr].append(AttributeStore(scope, is_own, value, statement in scope.node.body))

    def _read_calls(self, scope: TextScope) -> None:
        for node in scope.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found = self.binding(node.func.id, scope)
                if found is not None and found[0].definition is not None:
                    self.calls[found[0].definition].append((node, scope))

    def _read_changes(self, scope: TextScope, changed_by: Callable[[ast.AST, TextScope], list[str]]) -> None:
        """Note each name that is changed in a scope, in the scope that binds it."""
        for node in scope.nodes:
            for name in changed_by(node, scope):
                bound: TextScope | None = scope
                while bound is not None and name not in bound.bindings:
                    bound = bound.parent
                if bound is not None:
                    bound.changed.add(name)

    def _given_to_change(self, node: ast.AST, scope: TextScope) -> list[str]:
        """Return the names that a statement passes to a function that changes them, or whose code is not known."""
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=called) as function, args=given)):
                names = [each.id for each in given if isinstance(each, ast.Name)]
                found = self.binding(called, scope)
                definition = None if found is None else found[0].definition
                if definition is not None:
                    inner = next(each for each in self.scopes if each.node is definition)
                    return names if inner.changed else []
                is_torch = self.imported(function, scope).partition(".")[0] == "torch"
                is_known = is_torch or called in _LOOKING or called in dir(builtins)
                return [] if is_known else names
        return []


def _changed(node: ast.AST, scope: TextScope) -> list[str]:
    """Return the names whose values a node changes."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given):
            # ``x.log_()`` and ``torch.log_(x)``.
            is_change = method.endswith("_") and method not in KEEPING and not method.endswith("__")
            return [each.id for each in (owner, *given) if is_change and isinstance(each, ast.Name)]
        case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return [] if name == scope.self_name else [name]
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return [name]
    return []


def unwrapped(expression: ast.expr) -> ast.expr:
    """Return what a chain of methods is called of that keep the value: ``Net()`` of ``Net().to(device)``."""
    while (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, ast.Attribute)
        and expression.func.attr in KEEPING
    ):
        expression = expression.func.value
    return expression
