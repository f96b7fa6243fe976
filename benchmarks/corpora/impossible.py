"""Which classes of a file cannot run, whatever they are given: told from the text alone, of what runs in any case.

What counts runs unconditionally: statements of ``forward``, of the constructor, and of what these call of the same
file, outside any branch, loop, ``try``, comprehension and function in it, and before the first of them that may return.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_Definition = ast.ClassDef | ast.FunctionDef
_DEEPEST = 6
"""Calls in calls that are followed."""


def cannot_run(file: str, name: str) -> str | None:
    """Why a class cannot run whatever it is given; None if nothing says so."""
    source = _source(file)
    cls = source.definitions.get(name)
    if not isinstance(cls, ast.ClassDef):
        return None
    forward = source.method(cls, "forward")
    if forward is not None and _is_abstract(forward):
        return "its forward only raises NotImplementedError"
    for method in (source.method(cls, "__init__"), forward):
        why = None if method is None else source.fails(method, cls, _DEEPEST)
        if why is not None:
            return why
    return None


@lru_cache(maxsize=4)
def _source(file: str) -> _Source:
    with open(file, encoding="utf-8") as opened:
        return _Source(ast.parse(opened.read()))


class _Source:
    """The definitions of one file, the last of each name, as Python has it."""

    def __init__(self, tree: ast.Module) -> None:
        self.definitions: dict[str, _Definition] = {}
        self._names: set[str] = set()
        self._aliases: set[str] = set()
        """Names of the file's own module: generated files stand for all the modules of a project."""
        for statement in tree.body:
            self._note(statement)
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                self._names.update(node.names)
            elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                # Nobody knows what else it binds.
                self._aliases.clear()
                self.definitions.clear()

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                self.definitions[name] = statement
                self._names.add(name)
                self._aliases.discard(name)
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                is_own = ast.unparse(value) == "sys.modules[__name__]"
                (self._aliases.add if is_own or _name(value) in self._aliases else self._aliases.discard)(name)
        for name in _bound_in(statement):
            self._names.add(name)
            self.definitions.pop(name, None)
            if not isinstance(statement, ast.Assign):
                self._aliases.discard(name)

    def method(self, cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """A method of a class, or of its first base; None where that is not in this file."""
        for statement in cls.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return statement
        base = self.definitions.get(_name(cls.bases[0])) if cls.bases else None
        return self.method(base, name) if isinstance(base, ast.ClassDef) and base is not cls else None

    def fails(self, function: ast.FunctionDef, cls: ast.ClassDef | None, depth: int) -> str | None:
        """Why a function, or a method of ``cls``, fails in any case."""
        local = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        local |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        for node in _certain(function.body):
            match node:
                case ast.Attribute(value=ast.Name(id=alias), attr=name) if alias in self._aliases - local:
                    if name not in self._names and not name.startswith("__"):
                        return f"nothing binds {name}, which it takes from a module of its project"
                case ast.Call(func=ast.Name(id=name)) if name not in local and depth:
                    why = self._call_fails(node, name, depth)
                    if why is not None:
                        return why
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if cls is not None and depth:
                    method = self.method(cls, name)
                    if method is not None and not method.decorator_list:
                        why = self.fails(method, cls, depth - 1)
                        if why is not None:
                            return why
        return None

    def _call_fails(self, call: ast.Call, name: str, depth: int) -> str | None:
        called = self.definitions.get(name)
        if isinstance(called, ast.ClassDef):
            if called.keywords or any(_method_named(called, special) for special in ("__new__",)):
                return None
            function = self.method(called, "__init__")
        else:
            function = called
        if function is None or function.decorator_list:
            return None
        if not _takes(function, call, is_method=isinstance(called, ast.ClassDef)):
            return f"it calls {name} of its file, which does not take these arguments"
        return self.fails(function, called if isinstance(called, ast.ClassDef) else None, depth - 1)


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""


def _method_named(cls: ast.ClassDef, name: str) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == name for each in cls.body)


def _bound_in(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)


def _is_abstract(function: ast.FunctionDef) -> bool:
    """Whether a function does nothing but say that a subclass has to."""
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError")) | ast.Name(id="NotImplementedError"))]:
            return True
    return False


def _certain(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The expressions that are evaluated whenever ``body`` runs to its end."""
    for statement in body:
        match statement:
            case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Assert() | ast.Return():
                parts = [getattr(statement, "value", None), getattr(statement, "test", None)]
                yield from (node for part in parts if part is not None for node in _evaluated(part))
                if isinstance(statement, ast.Return):
                    return
            case ast.With(body=inner):
                yield from _certain(inner)
                if _may_leave(statement):
                    return
            case ast.If() | ast.For() | ast.While() | ast.Try() | ast.Match():
                if _may_leave(statement):
                    return


def _may_leave(statement: ast.stmt) -> bool:
    return any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) for node in ast.walk(statement))


def _evaluated(expression: ast.expr) -> Iterator[ast.expr]:
    """``expression`` and those in it that are evaluated in any case."""
    yield expression
    match expression:
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.IfExp(test=test):
            yield from _evaluated(test)
        case ast.BoolOp(values=[first, *_]):
            yield from _evaluated(first)
        case _:
            for child in ast.iter_child_nodes(expression):
                inner: Any = child.value if isinstance(child, (ast.keyword, ast.Starred)) else child
                if isinstance(inner, ast.expr):
                    yield from _evaluated(inner)


def _takes(function: ast.FunctionDef, call: ast.Call, is_method: bool) -> bool:
    """Whether a function can be called like that, as far as the call says."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(each.arg is None for each in call.keywords):
        return True
    try:
        _signature(function).bind(
            *[None] * (len(call.args) + is_method), **{each.arg: None for each in call.keywords if each.arg}
        )
    except TypeError:
        return False
    return True


def _signature(function: ast.FunctionDef) -> inspect.Signature:
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    required = len(by_position) - len(given.defaults)
    kind = inspect.Parameter
    found = [
        kind(
            each.arg,
            kind.POSITIONAL_ONLY if index < len(given.posonlyargs) else kind.POSITIONAL_OR_KEYWORD,
            default=kind.empty if index < required else None,
        )
        for index, each in enumerate(by_position)
    ]
    if given.vararg:
        found.append(kind(given.vararg.arg, kind.VAR_POSITIONAL))
    found += [
        kind(each.arg, kind.KEYWORD_ONLY, default=kind.empty if default is None else None)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        found.append(kind(given.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(found)
