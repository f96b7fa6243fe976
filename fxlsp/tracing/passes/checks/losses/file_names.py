"""What the names and attributes of a file are bound to, as far as its text proves it.

A name that is bound to different values, declared global or changed in place is bound to nothing that is known.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

Function = ast.FunctionDef | ast.AsyncFunctionDef

KEEPING = frozenset(
    (
        *("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "train", "eval"),
        *("requires_grad_", "contiguous", "detach", "clone"),
    )
)
"""Methods whose result is the module, or a tensor of the same values and sizes."""
_WRAPPING = ("DataParallel", "DistributedDataParallel", "compile")
"""Last names of functions whose result computes what the module computes that they are given first."""
LOOKING = frozenset(("summary", "watch"))
"""Functions that are given a module or a tensor and do not change it, whichever package has them."""


@dataclass(frozen=True, eq=False)
class TextBinding:
    """What binds a name; something else, which is not known, if every field is empty."""

    value: ast.expr | None = None
    definition: ast.ClassDef | Function | None = None
    parameter: ast.arg | None = None
    imported: str = ""
    """Dotted path of what is imported."""
    has_other_arguments: bool = False
    """Whether the name is bound to further calls of the same function."""


@dataclass(eq=False)
class TextScope:
    """Scope of a module, class or function."""

    node: ast.Module | ast.ClassDef | Function
    parent: TextScope | None = None
    """The scope in which its free names are looked up."""
    owner: ast.ClassDef | None = None
    """The class whose method it is."""
    nodes: list[ast.Call | ast.Attribute | ast.Subscript] = field(default_factory=list)
    """What of its code may call or change something."""
    bindings: defaultdict[str, list[TextBinding]] = field(default_factory=lambda: defaultdict(list))
    changed: set[str] = field(default_factory=set)
    """Names whose values are changed in place."""

    @property
    def self_name(self) -> str | None:
        """Name of the instance inside a method; None elsewhere."""
        if self.owner is None or not isinstance(self.node, Function) or self.node.decorator_list:
            return None
        first = [*self.node.args.posonlyargs, *self.node.args.args][:1]
        return first[0].arg if first else None

    def is_own(self, node: ast.expr) -> bool:
        """Return whether an expression of this scope is an attribute of ``self``."""
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.self_name


class FileNames:
    """Names and attributes of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = TextScope(tree)
        self.scopes: dict[ast.AST, TextScope] = {tree: self.module}
        """Scopes by the syntax that has them."""
        self.parents: dict[ast.AST, ast.AST] = {}
        self.attributes: defaultdict[str, list[tuple[ast.Attribute, TextScope]]] = defaultdict(list)
        """All attributes by name, with the scopes that use them."""
        self.loads: defaultdict[tuple[TextScope | None, str], list[tuple[ast.Name, TextScope]]] = defaultdict(list)
        """Uses of names by the scope that binds them, which is None for what is built in."""
        self._declared: set[str] = set()
        self._has_star = False
        loads = []
        waiting: list[tuple[ast.AST, TextScope]] = [(tree, self.module)]
        while waiting:  # A long chain of operators is deeper than Python recurses.
            node, scope = waiting.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loads.append((node, scope))
            waiting += reversed(list(self._children(node, scope)))
        for name, scope in loads:
            self.loads[self.binding_scope(name.id, scope), name.id].append((name, scope))
        self._read_changes()

    def binding_scope(self, name: str, scope: TextScope) -> TextScope | None:
        """Return the scope that binds a name which is used in ``scope``; None if the file does not bind it."""
        found: TextScope | None = scope
        while found is not None and name not in found.bindings:
            found = found.parent
        return found

    def binding(self, name: str, scope: TextScope) -> tuple[TextBinding, TextScope] | None:
        """Return what a name is bound to, and the scope that binds it; None if that may be one of several things."""
        found = self.binding_scope(name, scope)
        if found is None or name in found.changed or name in self._declared or self._has_star:
            return None
        first, *others = [each for each in found.bindings[name] if not _is_again(each, name)] or [TextBinding()]
        if not others:
            return first, found
        values = [unwrapped(each.value) for each in (first, *others) if each.value is not None]
        called = {ast.dump(each.func) if isinstance(each, ast.Call) else "" for each in values}
        if len(values) <= len(others) or len(called) > 1 or "" in called:
            return None
        return replace(first, has_other_arguments=len({ast.dump(each) for each in values}) > 1), found

    def imported(self, expression: ast.expr, scope: TextScope) -> str:
        """Return the dotted path of what an expression names by imports: ``torch.nn.functional``; "" if unknown."""
        if isinstance(expression, ast.Attribute):
            outer = self.imported(expression.value, scope)
            return f"{outer}.{expression.attr}" if outer else ""
        found = self.binding(expression.id, scope) if isinstance(expression, ast.Name) else None
        return "" if found is None else found[0].imported

    def own_attribute(self, name: str, owner: ast.ClassDef | None) -> tuple[ast.Attribute, TextScope] | None:
        """Return the only assignment of ``self.name`` in a class; None if something else may assign it too."""
        stores = [each for each in self.attributes.get(name, ()) if not isinstance(each[0].ctx, ast.Load)]
        own = [each for each in stores if each[1].owner is owner]
        if owner is None or len(own) != 1 or not all(scope.is_own(node) for node, scope in stores):
            return None
        return None if len(stores) > 1 and self.has_relatives(owner) else own[0]

    def has_relatives(self, definition: ast.ClassDef) -> bool:
        """Return whether another class of the file is a base or a subclass of this one, by their names."""
        classes = [each for each in self.scopes if isinstance(each, ast.ClassDef) and each is not definition]
        bases = _names_in_bases(definition)
        return any(each.name in bases or definition.name in _names_in_bases(each) for each in classes)

    def assigned(self, target: ast.expr) -> ast.expr | None:
        """Return the expression that a target is assigned; None if none is written for it alone."""
        around = self.parents[target]
        if isinstance(around, (ast.Assign, ast.AnnAssign)):
            return around.value
        given = self.assigned(around) if isinstance(around, ast.Tuple) else None
        if not isinstance(given, ast.Tuple) or not isinstance(around, ast.Tuple) or len(given.elts) != len(around.elts):
            return None
        is_starred = any(isinstance(each, ast.Starred) for each in given.elts)
        return None if is_starred else given.elts[around.elts.index(target)]

    def _children(self, node: ast.AST, scope: TextScope) -> Iterator[tuple[ast.AST, TextScope]]:
        """Note what a node binds, and yield the nodes in it with their scopes."""
        inner = scope
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                scope.bindings[node.name].append(TextBinding(definition=node))
                inner = self.scopes[node] = _inner(node, scope)
            case ast.Global() | ast.Nonlocal():
                self._declared.update(node.names)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                scope.bindings[name].append(TextBinding())
            case ast.Lambda(args=arguments):
                # Its body is read as a part of the scope around it.
                for each in ast.walk(arguments):
                    if isinstance(each, ast.arg):
                        scope.bindings[each.arg].append(TextBinding())
            case ast.Name(ctx=ast.Store() | ast.Del()):
                scope.bindings[node.id].append(TextBinding(value=self.assigned(node)))
            case ast.Attribute():
                self.attributes[node.attr].append((node, scope))
        if isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            scope.nodes.append(node)
        for child in ast.iter_child_nodes(node):
            self.parents[child] = node
            # Decorators, defaults and bases are evaluated in the scope around.
            yield child, inner if isinstance(child, ast.stmt) else scope

    def _import(self, node: ast.Import | ast.ImportFrom, scope: TextScope) -> None:
        for alias in node.names:
            name, path = alias.asname or alias.name, alias.name
            if alias.name == "*":
                self._has_star = True
                continue
            if isinstance(node, ast.ImportFrom):
                path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            elif not alias.asname:
                name = path = alias.name.partition(".")[0]
            if not any(each.imported == path for each in scope.bindings[name]):
                scope.bindings[name].append(TextBinding(imported=path))

    def _read_changes(self) -> None:
        """Note the names whose values are changed, until no call passes a further one to a function that changes it."""
        calls = []
        for scope in self.scopes.values():
            for node in scope.nodes:
                self._mark(self._changed(node, scope), scope)
                if isinstance(node, ast.Call) and isinstance(self.parents[node], ast.Expr):
                    calls.append((node, scope))
        is_new = True
        while is_new:
            is_new = False
            for node, scope in calls:
                is_new |= self._mark(self._given_to_change(node, scope), scope)

    def _mark(self, names: list[str], scope: TextScope) -> bool:
        """Note names as changed, and those that they are other names for; return whether one was not noted before."""
        waiting, is_new = [(name, scope) for name in names if name != scope.self_name], False
        while waiting:
            name, inner = waiting.pop()
            bound = self.binding_scope(name, inner)
            if bound is not None and name not in bound.changed:
                is_new = True
                bound.changed.add(name)
                values = [each.value for each in bound.bindings[name] if each.value is not None]
                roots = [root_of(each, through_calls=True) for each in values]
                waiting += [(each, bound) for each in roots if not self.imported(ast.Name(each, ast.Load()), bound)]
        return is_new

    def _changed(self, node: ast.AST, scope: TextScope) -> list[str]:
        """Return the names whose values a node changes."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=named):
                found = [root_of(each.value) for each in named if each.arg == "out"]
                # ``x.log_()`` and ``torch.log_(x)``.
                if method.endswith("_") and method not in KEEPING and not method.endswith("__"):
                    root = ast.Name(root_of(owner, through_calls=True), ast.Load())
                    found += [root_of(each) for each in given] if self.imported(root, scope) else [root.id]
                return found
            case ast.Attribute(value=value, ctx=ast.Store() | ast.Del()):
                return [root_of(value)]
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                return [root_of(value)]
        return []

    def _given_to_change(self, call: ast.Call, scope: TextScope) -> list[str]:
        """Return the names that a call passes to a function that changes them, or whose code is not known."""
        path, function = self.imported(call.func, scope), call.func
        if path.partition(".")[0] == "torch" or path.rpartition(".")[2] in LOOKING:
            return []
        if not path and not isinstance(function, ast.Name):
            return []
        given = [*call.args, *(each.value for each in call.keywords)]
        found = self.binding(function.id, scope) if isinstance(function, ast.Name) else None
        definition = None if found is None else found[0].definition
        if isinstance(definition, Function):
            changed = self.scopes[definition].changed
            given = [value for name, value in arguments_of(call, definition).items() if name in changed]
        elif isinstance(function, ast.Name) and self.binding_scope(function.id, scope) is None:
            given = [] if function.id in LOOKING or function.id in vars(builtins) else given
        return [root_of(each) for each in given]


def _inner(node: ast.ClassDef | Function, scope: TextScope) -> TextScope:
    """Return the scope of a class or function, with its parameters."""
    if isinstance(node, ast.ClassDef):
        return TextScope(node, scope)
    owner = scope.node if isinstance(scope.node, ast.ClassDef) else None
    # A function in a class does not see the names of the class.
    inner = TextScope(node, scope if owner is None else scope.parent, owner)
    for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        inner.bindings[each.arg].append(TextBinding(parameter=each))
    for packed in (node.args.vararg, node.args.kwarg):
        if packed is not None:
            inner.bindings[packed.arg].append(TextBinding())
    return inner


def _names_in_bases(definition: ast.ClassDef) -> set[str]:
    return {each.id for base in definition.bases for each in ast.walk(base) if isinstance(each, ast.Name)}


def _is_again(binding: TextBinding, name: str) -> bool:
    """Return whether a binding leaves the value as it is: ``model = model.to(device)``, ``nn.DataParallel(model)``."""
    value = None if binding.value is None else unwrapped(binding.value)
    if isinstance(value, ast.Call) and value.args:
        called = getattr(value.func, "attr", getattr(value.func, "id", ""))
        value = unwrapped(value.args[0]) if called in _WRAPPING else value
    return isinstance(value, ast.Name) and value.id == name


def arguments_of(call: ast.Call, function: Function) -> dict[str, ast.expr]:
    """Return the arguments of a call by parameter; none of a call that unpacks some."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return {}
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    by_name = {each.arg: each.value for each in call.keywords if each.arg is not None}
    return {**dict(zip(parameters, call.args, strict=False)), **by_name}


def root_of(expression: ast.expr, through_calls: bool = False) -> str:
    """Return the name that attributes and items are taken of, "" if it is none: ``x`` of ``x.data[0]``.

    ``through_calls`` goes on through calls of methods, whose results may be views.
    """
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        if not isinstance(expression, ast.Call):
            expression = expression.value
        elif through_calls and isinstance(expression.func, ast.Attribute):
            expression = expression.func.value
        else:
            return ""
    return expression.id if isinstance(expression, ast.Name) else ""


def unwrapped(expression: ast.expr) -> ast.expr:
    """Return what a chain of methods is called of that keep the value: ``Net()`` of ``Net().to(device)``."""
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        method, given = expression.func.attr, [*expression.args, *(each.value for each in expression.keywords)]
        # Another object's ``train`` or ``eval`` takes data.
        is_mode = len(given) <= 1 and all(isinstance(each, ast.Constant) for each in given)
        if method not in KEEPING or (method in ("train", "eval") and not is_mode):
            break
        expression = expression.func.value
    return expression
