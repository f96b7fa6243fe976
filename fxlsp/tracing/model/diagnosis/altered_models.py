"""Errors of a class by itself that other code of its file may mend, so that a guess does not show them.

A subclass may define what the class leaves to it: a method that returns nothing, how many items a tuple has, a width.
A function may change the models that it makes: it replaces a layer, assigns a ``forward``, registers a hook.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ....report.codes import CODE_FAILS, OPERATION_FAILS
from ....report.problems import Problem
from ....report.recipes import Recipe
from ..locations.expressions import Expressions
from ..targets import ModelTarget
from .changing_hooks import registers_changing_hook

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ANY = "*"
"""In the place of the name of a changed attribute: what runs may change anywhere, as behind a hook."""
_LACKS = re.compile(r"has no attribute '(\w+)'")
_REGISTER = ("add_module", "register_module", "register_buffer", "register_parameter", "setattr", "delattr")
_CHANGE_CONTAINER = ("append", "extend", "insert", "pop", "update", "clear")
_WITHOUT_CONSEQUENCE = ("data", "grad", "requires_grad", "training")
_BY_GUESS = ("search", "default")


def of_altered_model(problem: Problem, target: ModelTarget, recipe: Recipe, expressions: Expressions) -> Problem:
    """Return an error of a class as a note if a subclass or a function of its file may mend it, else unchanged.

    Args:
        problem: A problem of the class.
        target: What was traced.
        recipe: How it was made and fed. What a call site shows stays an error.
        expressions: The syntax trees of the files.
    """
    place, tree = problem.location, None if target.file is None else expressions.tree(target.file)
    is_failing = problem.severity == "error" and problem.code in (CODE_FAILS, OPERATION_FAILS)
    if not is_failing or place is None or tree is None:
        return problem
    text = _FileOfModel(tree, target.name.rpartition(".")[2])
    line = place.line if place.file == target.file else 0
    if recipe.source in _BY_GUESS and (target.is_made_by_defaults or target.is_guessed):
        subclass = _subclass_that_mends(problem, line, text)
        if subclass:
            return _note(problem, f"The subclass {subclass} defines this otherwise: ")
    function = _function_that_mends(problem, line, text, recipe)
    return _note(problem, f"`{function}` changes a model that it makes, so this may work: ") if function else problem


def _note(problem: Problem, why: str) -> Problem:
    return replace(problem, code=OPERATION_FAILS, severity="info", message=f"{why}{problem.message}", fitting=None)


class _FileOfModel:
    """Text of the file that defines a class."""

    def __init__(self, tree: ast.Module, name: str) -> None:
        self.tree = tree
        self.name = name
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.own = self._with_bases(name)
        """The class and its bases in the file."""
        self.methods = _methods(self.own)

    def _with_bases(self, name: str) -> list[ast.ClassDef]:
        found, waiting = [], [name]
        while waiting:
            cls = self.classes.get(waiting.pop(0))
            if cls is not None and cls not in found:
                found.append(cls)
                waiting += [_last_name(each) for each in cls.bases]
        return found

    def subclasses(self) -> Iterator[tuple[str, list[ast.ClassDef]]]:
        """Yield the name of each subclass in the file, and what it adds: itself and its bases that the class lacks."""
        for name in self.classes:
            classes = self._with_bases(name)
            if name != self.name and any(each.name == self.name for each in classes):
                yield name, [each for each in classes if each not in self.own]

    def behind(self, line: int, module_path: str) -> set[str]:
        """Return the attributes of ``self`` on which a statement may hang, by all that is assigned and called.

        Args:
            line: The line of the statement; 0 if it is in another file.
            module_path: The module whose code it belongs to.
        """
        function = next((each for each in self.methods.values() if _contains(each, line)), None)
        seen: set[str] = set()
        waiting: list[ast.AST] = [*_statements_at(function, line)] if function is not None else []
        if module_path:
            seen.add(module_path.partition(".")[0])
            users = [each for each in self.methods.values() if each.name != "__init__"]
            waiting += [*(each for each in users if not seen.isdisjoint(_attributes(each))), *self._makers_of(seen)]
        variables: set[str] = set()
        while waiting:
            node = waiting.pop()
            new = _attributes(node) - seen
            seen |= new
            waiting += self._makers_of(new)
            read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - variables
            variables |= read
            waiting += [] if function is None else _bindings(function, read)
        return seen

    def _makers_of(self, names: set[str]) -> list[ast.AST]:
        """Return the methods of these names, and the statements that assign attributes of these names."""
        found: list[ast.AST] = [self.methods[name] for name in names if name in self.methods]
        nodes = (node for method in self.methods.values() for node in ast.walk(method))
        assignments = (node for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign)))
        return [*found, *(node for node in assignments if not names.isdisjoint(_stored(node)))]


def _subclass_that_mends(problem: Problem, line: int, text: _FileOfModel) -> str | None:
    """Return a subclass that defines something on which the failing statement hangs; None without one."""
    lacking = _LACKS.search(problem.message)
    needed: set[str] | None = None
    for name, added in text.subclasses():
        defined = _defined(added)
        if lacking is not None:
            if lacking[1] in defined:
                return name
        elif not _is_of_name(problem):
            needed = text.behind(line, problem.module_path or "") if needed is None else needed
            if not defined.isdisjoint(needed):
                return name
    return None


def _function_that_mends(problem: Problem, line: int, text: _FileOfModel, recipe: Recipe) -> str | None:
    """Return a function that changes instances of the class in a way that may mend a failure; None without one."""
    maker = (recipe.init or text.name).partition("(")[0]
    changes = _Changes(text)
    if recipe.source not in _BY_GUESS and (maker != text.name or not changes.are_everywhere):
        return None
    running = {each.name for each in text.methods.values() if _contains(each, line)}
    used = {name for each in text.own for name in _attributes(each)} | text.methods.keys()
    for scope, names in changes.found.items():
        is_relevant = not names.isdisjoint(running if _is_of_name(problem) else used | {_ANY})
        if is_relevant and scope != maker:
            return scope
    return None


@dataclass
class _Scope:
    """Function of a file, or its top level, and the expressions there that are instances of a class."""

    name: str
    nodes: list[ast.AST]
    parameters: list[str] = field(default_factory=list)
    instances: set[str] = field(default_factory=set)


class _Changes:
    """Changes that functions of a file make to instances of a class."""

    def __init__(self, text: _FileOfModel) -> None:
        self._text = text
        self._makers = {text.name}
        self._attributes: set[str] = set()
        self._scopes = list(self._all_scopes())
        for _ in range(3):
            # An instance that one function returns or passes on is one in the next function, too.
            for scope in self._scopes:
                self._find_instances(scope)
        self.found: dict[str, set[str]] = {}
        """Names of the attributes that each function changes."""
        for scope in self._scopes:
            names = {name for node in scope.nodes for name in self._changed(node, scope)}
            if names:
                self.found[scope.name] = names

    @property
    def are_everywhere(self) -> bool:
        """Whether each function that makes an instance also changes it."""
        makers = [
            scope
            for scope in self._scopes
            if any(isinstance(node, ast.Call) and _last_name(node.func) == self._text.name for node in scope.nodes)
        ]
        return bool(makers) and all(scope.name in self.found for scope in makers)

    def _all_scopes(self) -> Iterator[_Scope]:
        own = {id(method) for cls in self._text.own for method in cls.body}
        top = [node for node in self._text.tree.body if not isinstance(node, (ast.ClassDef, *_FUNCTIONS))]
        yield _Scope("the file", [part for node in top for part in ast.walk(node)])
        for node in ast.walk(self._text.tree):
            if isinstance(node, _FUNCTIONS) and id(node) not in own:
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                annotated = {each.arg for each in arguments if _annotation(each) == self._text.name}
                yield _Scope(node.name, list(ast.walk(node)), [each.arg for each in arguments], annotated)

    def _find_instances(self, scope: _Scope) -> None:
        for node in scope.nodes:
            match node:
                case (
                    ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
                ):
                    if self._is_instance(value, scope):
                        scope.instances.add(ast.unparse(target))
                        if isinstance(target, ast.Attribute):
                            self._attributes.add(target.attr)
                case ast.Return(value=ast.expr() as value) if self._is_instance(value, scope):
                    self._makers.add(scope.name)
                case ast.Call(func=ast.Name(id=called), args=args):
                    given = [index for index, each in enumerate(args) if self._is_instance(each, scope)]
                    for other in self._scopes if given else ():
                        if other.name == called:
                            other.instances.update(other.parameters[at] for at in given if at < len(other.parameters))

    def _is_instance(self, value: ast.expr, scope: _Scope) -> bool:
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            # ``Net().to(device).eval()``
            if value.func.attr in self._makers:
                return True
            value = value.func.value
        match value:
            case ast.Call(func=ast.Name(id=called)):
                return called in self._makers
            case ast.Attribute(attr=attr) if attr in self._attributes:
                return True
            case ast.Name() | ast.Attribute():
                return ast.unparse(value) in scope.instances
        return False

    def _changed(self, node: ast.AST, scope: _Scope) -> Iterator[str]:
        """Yield the names of the attributes of an instance that a syntax node changes."""
        match node:
            case (ast.Attribute() | ast.Subscript()) as target if not isinstance(target.ctx, ast.Load):
                if getattr(target, "attr", None) not in _WITHOUT_CONSEQUENCE:
                    yield from self._first_attribute(target, scope)
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, name, *_]):
                if self._is_part(owner, scope):
                    yield next(self._first_attribute(owner, scope), _text_of(name) or _ANY)
                elif scope.instances.intersection(scope.parameters) and not _text_of(name):
                    yield _ANY
            case ast.Call(func=ast.Attribute(value=owner, attr=called), args=args) if self._is_part(owner, scope):
                method = self._text.methods.get(called)
                if registers_changing_hook(node, self._text.tree):
                    yield _ANY
                elif called in _REGISTER:
                    yield next(self._first_attribute(owner, scope), _text_of(args[0]) if args else None) or _ANY
                elif called in _CHANGE_CONTAINER:
                    yield from self._first_attribute(owner, scope)
                elif method is not None and called not in ("forward", "__init__") and self._is_instance(owner, scope):
                    yield from (name for part in ast.walk(method) for name in _stored(part))

    def _is_part(self, value: ast.expr, scope: _Scope) -> bool:
        return self._is_instance(value, scope) or next(self._first_attribute(value, scope), None) is not None

    def _first_attribute(self, value: ast.expr, scope: _Scope) -> Iterator[str]:
        """Yield ``fc`` of ``net.fc.weight``, if ``net`` is an instance or the class itself; else nothing."""
        while isinstance(value, (ast.Attribute, ast.Subscript)):
            owner = value.value
            is_class = isinstance(owner, ast.Name) and owner.id == self._text.name
            if isinstance(value, ast.Attribute) and (is_class or self._is_instance(owner, scope)):
                yield value.attr
                return
            value = owner


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_of_name(problem: Problem) -> bool:
    """Return whether a name is missing, which only the function that reads it can mend."""
    return "NameError" in problem.message


def _methods(classes: Iterable[ast.ClassDef]) -> dict[str, _Function]:
    found: dict[str, _Function] = {}
    for cls in classes:
        for each in cls.body:
            if isinstance(each, _FUNCTIONS):
                found.setdefault(each.name, each)
    return found


def _defined(classes: Iterable[ast.ClassDef]) -> set[str]:
    """Return the attributes that classes define: methods, class attributes and what their methods assign."""
    found: set[str] = set()
    for cls in classes:
        for each in cls.body:
            found |= {each.name} if isinstance(each, (*_FUNCTIONS, ast.ClassDef)) else set()
            found |= {part.id for part in ast.walk(each) if isinstance(part, ast.Name) and _is_stored(part)}
            found |= {name for part in ast.walk(each) for name in _stored(part)}
    return found - {"__init__", "forward"}


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the attributes of ``self`` that a syntax node assigns, without those inside it."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) else ():
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, ast.Attribute) and _is_stored(part) and _is_self(part.value):
                yield part.attr


def _attributes(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and _is_self(each.value)}


def _bindings(function: _Function, names: set[str]) -> list[ast.AST]:
    """Return the statements of a function that bind variables of these names."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
        and any(isinstance(part, ast.Name) and part.id in names and _is_stored(part) for part in ast.walk(node))
    ]


def _statements_at(function: _Function, line: int) -> list[ast.stmt]:
    """Return the innermost statement of a function at a line."""
    around = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and _contains(node, line)]
    return [min(around, key=lambda node: ((node.end_lineno or 0) - node.lineno, -node.lineno))] if around else []


def _contains(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _is_stored(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_self(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def _last_name(expression: ast.expr) -> str:
    return getattr(expression, "attr", getattr(expression, "id", ""))


def _annotation(argument: ast.arg) -> str:
    return "" if argument.annotation is None else ast.unparse(argument.annotation).strip("'\"").rpartition(".")[2]


def _text_of(expression: ast.expr) -> str | None:
    value = expression.value if isinstance(expression, ast.Constant) else None
    return value if isinstance(value, str) else None
