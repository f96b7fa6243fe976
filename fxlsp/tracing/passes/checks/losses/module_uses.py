"""Whether a file leaves the parts of a model as its constructor made them.

Only uses that are known to leave them count: a function of another file may replace a layer.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from .file_names import KEEPING, LOOKING, FileNames, Function, TextScope, arguments_of, root_of

_HARMLESS = frozenset(
    (
        "parameters",
        "named_parameters",
        "buffers",
        "state_dict",
        "load_state_dict",
        "zero_grad",
        "forward",
        "share_memory",
    )
)
"""Methods of modules that change no part."""
_HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook", "_forward_hooks")
_CHANGING = ("__setattr__", "__dict__", "__class__", "_modules", "set_submodule", "add_module", "register_module")
_SETTING = ("setattr", "delattr")
_TAKING = frozenset(
    (
        *("torch.save", "torch.compile", "torch.onnx.export", "torch.jit.script", "torch.jit.trace"),
        *("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel"),
    )
)
"""Functions of torch that change no part of a module they are given."""
_BUILT_IN = ("print", "len", "isinstance", "type", "id", "repr", "str", "super")
_CALLED = ("__call__", "__new__", "__getattr__", "__getattribute__")
"""Methods by which a call of the model is something else than its ``forward``."""
_MOST_CALLS = 3


class ModuleUses:
    """Uses of one class, of its parts, and of names for its instances."""

    def __init__(self, definition: ast.ClassDef, names: FileNames, parts: Collection[str]) -> None:
        """
        Args:
            definition: the class, at the top level of its file.
            names: the names of its file.
            parts: names of its modules, by which it has them as attributes.
        """
        self._definition = definition
        self._names = names
        methods = {each.name for each in definition.body if isinstance(each, Function)}
        self._callable = {*parts, *methods}
        self._is_plain = not methods.intersection(_CALLED) and not definition.decorator_list
        self.has_subclass = False

    def leave_class(self) -> bool:
        """Return whether the class is nowhere changed, nor are the parts of what may be its instance by a function."""
        uses = [self._use_of_class(node) for node, _ in self._names.loads[self._names.module, self._definition.name]]
        self.has_subclass = "base" in uses
        is_hooked = any(name in self._names.attributes for name in _HOOKS)
        is_changed = not all(map(self._is_in_constructor, self._changes()))
        return self._is_plain and "other" not in uses and not is_hooked and not is_changed and self._self()

    def leave_parts(self, parts: Collection[str]) -> bool:
        """Return whether the file uses attributes of these names in calls alone, outside of the constructor."""
        return all(
            self._is_called(node, scope)
            for part in parts
            for node, scope in self._names.attributes.get(part, ())
            if not self._is_in_constructor(scope) and not self._is_of_another(node, scope)
        )

    def leave(self, passed: Collection[tuple[TextScope | None, str]]) -> bool:
        """Return whether the parts of an instance are left alone by what is done with these names and attributes."""
        return all(
            self._is_left(node, around)
            for scope, name in passed
            for node, around in (self._names.attributes[name] if scope is None else self._names.loads[scope, name])
            if isinstance(node.ctx, ast.Load)
        )

    def takes_parts_as_made(self, attribute: str) -> bool:
        """Return whether the constructor only assigns an attribute, once, whatever its arguments are."""
        for scope in self._names.scopes.values():
            if self._is_in_constructor(scope):
                uses = [each for each in self._names.attributes[attribute] if each[1] is scope]
                return len(uses) == 1 and scope not in self._changes() and self._self_in(scope)
        return False

    def _changes(self) -> list[TextScope]:
        """Return the scopes that change parts of something by functions and attributes for that."""
        names = self._names
        by_attributes = [scope for name in _CHANGING for _, scope in names.attributes.get(name, ())]
        return by_attributes + [scope for name in _SETTING for _, scope in names.loads[None, name]]

    def _is_in_constructor(self, scope: TextScope) -> bool:
        """Return whether code runs in the constructor, which did the same to the traced model."""
        return scope.owner is self._definition and getattr(scope.node, "name", "") == "__init__"

    def _is_of_another(self, node: ast.Attribute, scope: TextScope) -> bool:
        """Return whether it is an attribute of ``self`` of a class that is unrelated."""
        is_other = scope.owner is not self._definition and scope.is_own(node)
        return is_other and not self._names.has_relatives(self._definition)

    def _is_called(self, node: ast.Attribute, scope: TextScope) -> bool:
        around = self._names.parents[node]
        called = around if isinstance(around, ast.Attribute) and around.attr in _HARMLESS else node
        call = self._names.parents[called]
        return isinstance(node.ctx, ast.Load) and isinstance(call, ast.Call) and call.func is called

    def _use_of_class(self, node: ast.expr) -> str:
        """Return what a name of the class is used for: "base" of a class, "other" if that is not known."""
        around = self._names.parents[node]
        if isinstance(around, ast.Call):
            is_asked = isinstance(around.func, ast.Name) and around.func.id in ("isinstance", "super")
            return "call" if around.func is node or is_asked else "other"
        while isinstance(around, (ast.Subscript, ast.BinOp, ast.Tuple, ast.List)):
            node, around = around, self._names.parents[around]
        match around:
            case ast.ClassDef():
                return "base"
            case ast.arg():
                return "annotation"
            case ast.AnnAssign(annotation=stated) | ast.FunctionDef(returns=stated) if stated is node:
                return "annotation"
        return "other"

    def _self(self) -> bool:
        """Return whether the methods do with ``self`` nothing that may change its parts."""
        scopes = [each for each in self._names.scopes.values() if each.owner is self._definition]
        return all(self._is_in_constructor(scope) or self._self_in(scope) for scope in scopes)

    def _self_in(self, scope: TextScope) -> bool:
        for node, inner in self._names.loads[scope, scope.self_name or ""]:
            is_used = isinstance(self._names.parents[node], (ast.Attribute, ast.Return))
            if not is_used and not self._is_left(node, inner):
                return False
        return True

    def _is_left(self, used: ast.expr, scope: TextScope, calls: int = 0) -> bool:
        """Return whether one use of an instance leaves its parts alone."""
        around = self._names.parents[used]
        match around:
            case ast.Expr() | ast.Compare():
                return True
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name == root_of(used, through_calls=True)
            case ast.Call():
                return around.func is used or self._may_take(around, used, scope, calls)
            case ast.keyword():
                call = self._names.parents[around]
                return isinstance(call, ast.Call) and self._may_take(call, used, scope, calls)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                call = self._names.parents[around]
                if not isinstance(call, ast.Call) or call.func is not around:
                    return name == "training"
                if name in KEEPING:
                    return self._is_left(call, scope, calls)
                return name in _HARMLESS or name in self._callable
        return False

    def _may_take(self, call: ast.Call, given: ast.expr, scope: TextScope, calls: int) -> bool:
        """Return whether a function leaves the parts of an instance alone that it is given."""
        path, function = self._names.imported(call.func, scope), call.func
        if path:
            return path in _TAKING or path.rpartition(".")[2] in LOOKING
        if not isinstance(function, ast.Name):
            return False
        if self._names.binding_scope(function.id, scope) is None:
            return function.id in _BUILT_IN
        found = self._names.binding(function.id, scope)
        definition = None if found is None else found[0].definition
        if not isinstance(definition, Function) or definition.decorator_list or calls == _MOST_CALLS:
            return False
        inner = self._names.scopes[definition]
        parameters = [name for name, value in arguments_of(call, definition).items() if value is given]
        return bool(parameters) and all(
            self._is_left(node, around, calls + 1) for node, around in self._names.loads[inner, parameters[0]]
        )
