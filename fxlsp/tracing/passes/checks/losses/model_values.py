"""Expressions of a file that are the result of the traced model: ``model(x)``, ``self(x)`` and names for these."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import torch

from .....report.report import Report
from .bindings import FileNames, Function, unwrapped
from .origins import Frame, Origin, origin_of

_CHANGING = frozenset(
    ("register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook", "__setattr__")
) | {"set_submodule", "add_module", "register_module", "append", "extend", "insert", "pop"}
_SETTING = frozenset(("setattr", "delattr"))


@dataclass(frozen=True, eq=False)
class ModelResult:
    """Call of the traced model."""

    call: ast.Call
    frame: Frame
    construction: Origin | None
    """How the model is made; None if only its class is known."""


class ModelValues:
    """Calls of one class or factory in the text of its file."""

    def __init__(self, definition: ast.ClassDef | Function, names: FileNames, report: Report) -> None:
        self.definition = definition
        self._names = names
        self._report = report

    def result(self, expression: ast.expr, frame: Frame) -> ModelResult | None:
        """Return the call of the model that an expression is the result of; None if it is not one for certain."""
        found = origin_of(expression, frame, self._names)
        if found is None or not isinstance(found.node, ast.Call):
            return None
        model = found.node.func
        if isinstance(model, ast.Attribute) and model.attr == "forward":
            model = model.value
        made = origin_of(model, found.frame, self._names)
        if made is None:
            return None
        if isinstance(made.node, ast.Call) and self._is_definition(made.node.func, made.frame):
            return ModelResult(found.node, found.frame, made)
        if isinstance(made.node, ast.arg) and self._is_instance(made.node, made.frame):
            return ModelResult(found.node, found.frame, None)
        return None

    def is_as_traced(self, result: ModelResult) -> bool:
        """Return whether a model has the constructor's arguments with which it was traced."""
        if result.construction is None:
            return isinstance(self.definition, ast.ClassDef) and _takes_nothing(self.definition, self._names)
        made = result.construction
        assert isinstance(made.node, ast.Call)
        try:
            traced = unwrapped(ast.parse(self._report.recipe.init, mode="eval").body)
        except SyntaxError:
            return False
        if not isinstance(traced, ast.Call) or self._report.recipe.file is not None:
            return False
        if not self._is_definition(traced.func, Frame(self._names.module)):
            # Another function made the model that was traced.
            return False
        arguments = self._arguments(made.node, made.frame)
        return arguments is not None and arguments == self._arguments(traced, Frame(self._names.module))

    @property
    def may_be_changed(self) -> bool:
        """Whether the file changes parts of a model from outside, so that it may return something else than traced."""
        children = {part for module in self._report.modules for part in module.path.split(".")} | {"forward"}
        for name in children:
            for store in self._names.attributes.get(name, ()):
                if not store.is_own or getattr(store.scope.node, "name", "") != "__init__":
                    return True
        # What a constructor does, it did to the traced model too.
        others = [each for each in self._names.scopes if getattr(each.node, "name", "") != "__init__"]
        return any(_changes_modules(node, children) for scope in others for node in scope.nodes)

    def _is_definition(self, function: ast.expr, frame: Frame) -> bool:
        found = self._names.binding(function.id, frame.scope) if isinstance(function, ast.Name) else None
        return found is not None and found[0].definition is self.definition

    def _is_instance(self, parameter: ast.arg, frame: Frame) -> bool:
        """Return whether a parameter is ``self`` of the class, or annotated with it, and no subclass may be meant."""
        if not isinstance(self.definition, ast.ClassDef) or self._names.has_subclass(self.definition):
            return False
        if parameter.arg == frame.scope.self_name:
            return frame.scope.owner is self.definition
        annotation = parameter.annotation
        if isinstance(annotation, ast.Constant) and annotation.value == self.definition.name:
            annotation = ast.Name(self.definition.name, ast.Load())
        return annotation is not None and self._is_definition(annotation, Frame(self._names.module))

    def _arguments(self, call: ast.Call, frame: Frame) -> list[tuple[str | None, str]] | None:
        """Return the arguments of a constructor as text without names; None if some of them are not known."""
        found: list[tuple[str | None, str]] = []
        for name, value in (*((None, each) for each in call.args), *((each.arg, each.value) for each in call.keywords)):
            origin = origin_of(value, frame, self._names)
            node = None if origin is None else origin.node
            if node is None or any(isinstance(each, (ast.Name, ast.arg, ast.Call)) for each in ast.walk(node)):
                return None
            found.append((name, ast.unparse(node)))
        return found


def _takes_nothing(definition: ast.ClassDef, names: FileNames) -> bool:
    """Return whether the constructor of a class has no parameters."""
    for statement in definition.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            arguments = statement.args
            taken = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            return len(taken) == 1 and arguments.vararg is None and arguments.kwarg is None
    return [names.torch_object(base, names.module) for base in definition.bases] == [torch.nn.Module]


def _changes_modules(node: ast.AST, children: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _SETTING
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=changed), attr=method)):
            return method in _CHANGING and (changed in children or method.startswith(("register", "set", "__")))
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _CHANGING and method not in ("append", "extend", "insert", "pop")
        case ast.Subscript(value=ast.Attribute(attr=changed), ctx=ast.Store() | ast.Del()):
            return changed in children
    return False
