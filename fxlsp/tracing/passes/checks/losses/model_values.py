"""Expressions of a file that are the result of the traced model: ``model(x)``, ``self(x)`` and names for these."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .....report.report import Report
from .file_names import FileNames, Function, unwrapped
from .module_uses import ModuleUses
from .value_origins import Frame, ValueOrigin, origin_of


@dataclass(frozen=True, eq=False)
class ModelResult:
    """Call of the traced model."""

    call: ast.Call
    frame: Frame
    construction: ValueOrigin | None
    """How the model is made; None if only its class is known."""
    has_other_arguments: bool
    """Whether the value is also that of calls of the model with other arguments."""


class ModelValues:
    """Calls of one class in the text of its file."""

    def __init__(self, definition: ast.ClassDef, names: FileNames, uses: ModuleUses, report: Report) -> None:
        self._definition = definition
        self._names = names
        self._uses = uses
        self._report = report

    def result(self, expression: ast.expr, frame: Frame) -> ModelResult | None:
        """Return the call of the model that an expression is the result of; None if it is not one for certain."""
        found = origin_of(expression, frame, self._names)
        if found is None or not isinstance(found.node, ast.Call):
            return None
        model = found.node.func
        if isinstance(model, ast.Attribute) and model.attr == "forward":
            model = model.value
        made = origin_of(model, found.frame, self._names, with_attributes=True)
        if made is None:
            return None
        is_self = self._is_self(made)
        if not is_self and not self._uses.leave(made.passed):
            return None
        if isinstance(made.node, ast.Call) and self._is_definition(made.node.func, made.frame):
            return ModelResult(found.node, found.frame, made, found.has_other_arguments)
        if is_self or self._is_annotated(made.node):
            return ModelResult(found.node, found.frame, None, found.has_other_arguments)
        return None

    def is_as_traced(self, result: ModelResult) -> bool:
        """Return whether a model has the constructor's arguments with which it was traced."""
        made = result.construction
        try:
            traced = unwrapped(ast.parse(self._report.recipe.init, mode="eval").body)
        except SyntaxError:
            return False
        if not isinstance(traced, ast.Call) or self._report.recipe.file is not None:
            return False
        if not self._is_definition(traced.func, Frame(self._names.module)):
            # Another function made the model that was traced.
            return False
        if made is None:
            return _takes_nothing(self._definition, self._names)
        if made.has_other_arguments or not isinstance(made.node, ast.Call):
            return False
        arguments = self._arguments(made.node, made.frame)
        return arguments is not None and arguments == self._arguments(traced, Frame(self._names.module))

    def _is_definition(self, function: ast.expr, frame: Frame) -> bool:
        found = self._names.binding(function.id, frame.scope) if isinstance(function, ast.Name) else None
        return found is not None and found[0].definition is self._definition

    def _is_self(self, made: ValueOrigin) -> bool:
        """Return whether a parameter is ``self`` of the class, and no subclass may be meant."""
        scope = made.frame.scope
        is_self = isinstance(made.node, ast.arg) and made.node.arg == scope.self_name
        return is_self and scope.owner is self._definition and not self._uses.has_subclass

    def _is_annotated(self, parameter: ast.expr | ast.arg) -> bool:
        """Return whether a parameter is annotated with the class, and no subclass may be meant."""
        annotation = parameter.annotation if isinstance(parameter, ast.arg) else None
        if isinstance(annotation, ast.Constant) and annotation.value == self._definition.name:
            annotation = ast.Name(self._definition.name, ast.Load())
        is_named = annotation is not None and self._is_definition(annotation, Frame(self._names.module))
        return is_named and not self._uses.has_subclass

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
        if isinstance(statement, Function) and statement.name == "__init__":
            arguments = statement.args
            taken = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            return len(taken) == 1 and arguments.vararg is None and arguments.kwarg is None
    return [names.imported(base, names.module) for base in definition.bases] == ["torch.nn.Module"]
