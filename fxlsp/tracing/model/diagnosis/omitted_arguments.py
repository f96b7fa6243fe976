"""Arguments that default to nothing, and without which a class that nothing calls does not work.

``cfg=None``, ``ch=()``, ``anchors=[]``, ``width=0`` and ``heads=-1`` are often placeholders: only a caller knows the
value.
"""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

from ....report.codes import CODE_FAILS, OPERATION_FAILS
from ....report.locations import Location
from ....report.problems import Problem
from ....report.recipes import Recipe
from ..locations.expressions import Expressions
from ..targets import ModelTarget
from .failures import text_of
from .own_mistakes import is_own_mistake

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Uses = dict[str, tuple[str, ...]]
"""Arguments by what is made of them: a variable, or an attribute as ``self.name``."""
_BY_GUESS = ("search", "default")
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) argument")
_OF_NONE = (AttributeError, TypeError)
_OF_NOTHING = (IndexError, KeyError, ValueError, AssertionError, StopIteration, ZeroDivisionError, RuntimeError)
_EMPTY = (list, tuple, dict, set)
_WITHOUT_SIZE = ("drop", "pad")
"""In names of arguments that are right as 0."""
_NEVER_ONE = ("dim", "width", "hidden", "embed", "feature", "d_model")
"""In names of sizes that are 1 only until a caller says another one."""


def omitted_arguments(error: BaseException, class_name: str, expressions: Expressions) -> list[str]:
    """Return the arguments that default to nothing and whose absence made a constructor fail; none if not that did.

    Args:
        error: The exception, with its traceback.
        class_name: The class, which was called without arguments.
        expressions: The syntax trees of the files.
    """
    is_of_none = isinstance(error, _OF_NONE) and ("NoneType" in text_of(error) or "empty" in text_of(error))
    if not is_of_none and not isinstance(error, _OF_NOTHING):
        return []
    uses: _Uses = {}
    found: dict[str, None] = {}
    if is_own_mistake(error, None, is_given=False):
        return []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        method = expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        if method is None or not _is_method_of(method, frame, class_name):
            continue
        if code.co_name == "__init__":
            uses |= _uses_in(method, frame, with_numbers=not is_of_none)
        own = _own_name(method)
        visible = uses if code.co_name == "__init__" else {key: value for key, value in uses.items() if "." in key}
        found |= dict.fromkeys(_mentioned(_headers_at(method, line, isinstance(error, _OF_NOTHING)), own, visible))
    return list(found)


def of_omitted_argument(problem: Problem, target: ModelTarget, expressions: Expressions) -> Problem:
    """Return an error at an attribute that is None as a note, if it is an argument that nothing states.

    Any other problem is returned unchanged.
    """
    place = problem.location
    is_failing = problem.severity == "error" and problem.code in (CODE_FAILS, OPERATION_FAILS)
    if not target.is_made_by_defaults or not is_failing or place is None or "NoneType" not in problem.message:
        return problem
    tree = expressions.tree(place.file)
    methods = [] if tree is None else _methods_of(tree, target.name.rpartition(".")[2])
    uses: _Uses = {}
    for method in methods:
        if method.name == "__init__":
            uses |= _uses_in(method, None)
    for method in methods:
        if method.lineno <= place.line <= (method.end_lineno or 0):
            headers = _headers_at(method, place.line, with_conditions=False)
            names = _mentioned(headers, _own_name(method), {key: value for key, value in uses.items() if "." in key})
            if names:
                plural = "s" if len(names) > 1 else ""
                message = f"With the argument{plural} {', '.join(names)} this may work: {problem.message}"
                return replace(problem, code=OPERATION_FAILS, severity="info", message=message)
    return problem


def of_passed_arguments(problem: Problem, recipe: Recipe, expressions: Expressions) -> Problem:
    """Return an error of a missing argument as a note, if a guess made a call that passes on what a caller gives.

    ``self.fn(*args, **kwargs)`` of a model that was called without an argument. Others are returned unchanged.
    """
    place = problem.location
    is_failing = problem.severity == "error" and problem.code in (CODE_FAILS, OPERATION_FAILS)
    if recipe.source not in _BY_GUESS or not is_failing or place is None or _MISSING.search(problem.message) is None:
        return problem
    innermost = expressions.statements_at(place.file, place.line)[-1:]
    calls = (each for statement in innermost for each in ast.walk(statement))
    if not any(isinstance(each, ast.Call) and _passes_on(each) and _is_at(each, place) for each in calls):
        return problem
    message = f"With other inputs this may work: {problem.message}"
    return replace(problem, code=OPERATION_FAILS, severity="info", message=message, fitting=None)


def _passes_on(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def _is_at(node: ast.expr, place: Location) -> bool:
    """Return whether an expression is that of a location, or one of those of a line where columns are not known."""
    first, last = (node.lineno, node.col_offset + 1), (node.end_lineno, (node.end_col_offset or 0) + 1)
    return (place.line, place.column) <= first and last <= (place.end_line, place.end_column)


def _is_method_of(method: _Function, frame: FrameType, class_name: str) -> bool:
    owner = frame.f_locals.get(_own_name(method))
    return any(each.__qualname__ == class_name for each in type(owner).__mro__)


def _own_name(method: _Function) -> str:
    return next((each.arg for each in (*method.args.posonlyargs, *method.args.args)), "")


def _placeholders(constructor: _Function, with_numbers: bool) -> list[str]:
    """Return the parameters that default to None or something empty, or to a number that is no size."""
    arguments = constructor.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return [
        each.arg
        for each, default in pairs
        if default is not None and (_is_nothing(default) or (with_numbers and _is_no_size(default, each.arg)))
    ]


def _is_no_size(default: ast.expr, name: str) -> bool:
    match default:
        case ast.Constant(value=0):
            return type(default.value) is int and not any(each in name for each in _WITHOUT_SIZE)
        case ast.Constant(value=1):
            return type(default.value) is int and any(each in name for each in _NEVER_ONE)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) and all(_is_no_size(each, name) for each in elements)
    return False


def _is_nothing(default: ast.expr) -> bool:
    match default:
        case ast.Constant(value=None) | ast.Tuple(elts=[]) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id="list" | "tuple" | "dict" | "set"), args=[], keywords=[]):
            return True
    return False


def _uses_in(constructor: _Function, frame: FrameType | None, with_numbers: bool = False) -> _Uses:
    """Return what a constructor makes of the arguments that are nothing.

    Args:
        constructor: The definition.
        frame: Where it runs, with the values; without it, each attribute that is an argument itself counts.
        with_numbers: Whether numbers that are no sizes are nothing, too.
    """
    values: Mapping[str, Any] = {} if frame is None else frame.f_locals
    own = _own_name(constructor)
    uses: _Uses = {
        name: (name,)
        for name in _placeholders(constructor, with_numbers)
        if frame is None
        or (name in values and (_is_nothing_now(values[name]) or (with_numbers and _is_one(values[name]))))
    }
    for statement in ast.walk(constructor):
        for target, value in _bindings(statement):
            name = _name_of(target, own)
            arguments = _mentioned([value], own, uses)
            if not name or not arguments or name in uses:
                continue
            if frame is None:
                is_made = isinstance(value, ast.Name)
            elif isinstance(value, (ast.BoolOp, ast.IfExp)):
                is_made = _is_nothing_now(_value_of(name, own, values))
            else:
                is_made = True
            if is_made:
                uses[name] = tuple(arguments)
    return uses


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value):
            yield target, value


def _name_of(target: ast.expr, own: str) -> str:
    match target:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == own:
            return f"self.{name}"
    return ""


def _value_of(name: str, own: str, values: Mapping[str, Any]) -> Any:
    owner, _, attribute = name.rpartition(".")
    return vars(values[own]).get(attribute) if owner and own in values else values.get(name)


def _is_nothing_now(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_nothing_now, value))
    is_number = type(value) in (int, float)
    return value is None or (isinstance(value, _EMPTY) and not value) or (is_number and value <= 0)


def _is_one(value: Any) -> bool:
    return type(value) is int and value == 1


def _mentioned(nodes: Iterable[ast.AST], own: str, uses: _Uses) -> list[str]:
    """Return the arguments of which expressions read what is made of them."""
    found: dict[str, None] = {}
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                found |= dict.fromkeys(uses.get(_name_of(part, own), ()))
    return list(found)


def _headers_at(method: _Function, line: int, with_conditions: bool) -> list[ast.AST]:
    """Return the innermost statement at a line, of a compound one what precedes its body.

    ``with_conditions`` are the tests above a ``raise`` or ``assert``, too.
    """
    conditions: list[ast.AST] = []
    statement: ast.AST = method
    while True:
        inner = next(
            (each for each in _statements_in(statement) if each.lineno <= line <= (each.end_lineno or 0)), None
        )
        if inner is None:
            break
        if isinstance(inner, ast.If):
            conditions.append(inner.test)
        statement = inner
    headers = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
    is_check = with_conditions and isinstance(statement, (ast.Raise, ast.Assert))
    return [*headers, *(conditions if is_check else ())] if statement is not method else []


def _statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, (ast.ExceptHandler, ast.match_case)):
            yield from _statements_in(each)


def _methods_of(tree: ast.Module, class_name: str) -> list[_Function]:
    """Return the methods of a class of a file, and those of its bases there that it does not replace."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found: dict[str, _Function] = {}
    waiting = [class_name]
    while waiting:
        owner = classes.pop(waiting.pop(0), None)
        if owner is not None:
            for each in owner.body:
                if isinstance(each, _Function):
                    found.setdefault(each.name, each)
            waiting += [each.id for each in owner.bases if isinstance(each, ast.Name)]
    return list(found.values())
