"""Which guessed arguments decide whether the model runs an expression.

A problem of an expression that only runs since an invented flag is off, or whose operand an invented function returned,
says something of the guess and nothing of the model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from ....report.locations import Location
from ....report.problems import Problem
from ....report.report import Report
from ..locations.expressions import Expressions

_FORMS = ("bool", "int", "float", "str", "list", "tuple", "getattr")
"""Functions whose result is a part or another form of their first argument."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class GuessedArguments:
    """Arguments of a class that a guess states, and the attributes that hold them."""

    class_name: str
    names: frozenset[str]
    attributes: dict[str, str] = field(default_factory=dict)
    """Names of arguments by the attributes that are made of nothing else that varies."""

    @classmethod
    def of(cls, init: str, tree: ast.Module) -> GuessedArguments | None:
        """Return those of the construction ``init`` of a class in a file."""
        call = _call(init)
        if call is None or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return None
        name = ast.unparse(call.func)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name.split(".")[-1]]
        constructor = _method(found[0], "__init__") if len(found) == 1 else None
        if constructor is None:
            return None
        parameters = [each.arg for each in (*constructor.args.posonlyargs, *constructor.args.args)][1:]
        given = {*parameters[: len(call.args)], *(each.arg for each in call.keywords if each.arg)}
        arguments = cls(found[0].name, frozenset(given))
        arguments._follow(constructor)
        return arguments

    def _follow(self, constructor: _Function) -> None:
        """Note the attributes to which the constructor assigns an argument, or a part of one."""
        own = constructor.args.args[0].arg if constructor.args.args else "self"
        for node in ast.walk(constructor):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            argument = self._argument_in(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if argument and isinstance(target, ast.Attribute) and ast.unparse(target.value) == own:
                    self.attributes[target.attr] = argument

    def _argument_in(self, value: ast.expr) -> str | None:
        """Return the argument that a value is: ``config`` for ``config.flag``, ``bool(config["flag"])``."""
        inner: ast.expr | None = value
        while inner is not None and not isinstance(inner, ast.Name):
            inner = _whole_of(inner)
        return inner.id if inner is not None and inner.id in self.names else None

    def mentioned(self, node: ast.AST, own: str) -> str | None:
        """Return the guessed argument of which a method's expression reads an attribute."""
        for each in ast.walk(node):
            match each:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == own:
                    if attribute in self.attributes:
                        return self.attributes[attribute]
        return None


def deciding_argument(place: Location, init: str, tree: ast.Module, is_of_kind: bool) -> str | None:
    """Return the guessed argument on which it hangs that an expression of a method runs, or what it is given.

    Args:
        place: The expression.
        init: How the model is constructed.
        tree: The file that contains both the expression and the class of the model.
        is_of_kind: Whether a value of another kind would have no such problem: what is iterated, or asked for a length.
    """
    arguments = GuessedArguments.of(init, tree)
    path = [] if arguments is None else _path_to(tree, place)
    method = _method_in(path, arguments.class_name) if arguments is not None else None
    if arguments is None or method is None or not method.args.args or method.name == "__init__":
        return None
    own = method.args.args[0].arg
    inside = path[path.index(method) :]
    for condition in _conditions(inside):
        argument = arguments.mentioned(condition, own)
        if argument is not None:
            return argument
    return _returned_by(inside[-1], method, own, arguments) if is_of_kind else None


def _whole_of(part: ast.expr) -> ast.expr | None:
    """Return of what an expression is a part or another form; None if it is more than that."""
    match part:
        case ast.Attribute(value=whole) | ast.Subscript(value=whole) | ast.UnaryOp(operand=whole):
            return whole
        case ast.Call(func=ast.Name(id=name), args=[whole, *_]) if name in _FORMS:
            return whole
        case ast.Call(func=ast.Attribute(value=whole, attr="get")):
            return whole
    return None


def _call(text: str) -> ast.Call | None:
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    return expression if isinstance(expression, ast.Call) else None


def _method(owner: ast.ClassDef, name: str) -> _Function | None:
    return next((each for each in owner.body if isinstance(each, _Function) and each.name == name), None)


def _method_in(path: list[ast.AST], class_name: str) -> _Function | None:
    """Return the method of the class on a path from the module to an expression."""
    for owner, inner in pairwise(path):
        if isinstance(owner, ast.ClassDef) and owner.name == class_name and isinstance(inner, _Function):
            return inner
    return None


def _path_to(tree: ast.Module, place: Location) -> list[ast.AST]:
    """Return the nodes from the module to the innermost one that starts at or before a place and contains its line."""
    path: list[ast.AST] = [tree]
    while True:
        inner = next((each for each in ast.iter_child_nodes(path[-1]) if _contains(each, place)), None)
        if inner is None:
            return path
        path.append(inner)
        if isinstance(inner, ast.expr) and _is_at(inner, place):
            return path


def _is_at(node: ast.expr, place: Location) -> bool:
    start, end = (node.lineno, node.col_offset + 1), (node.end_lineno, (node.end_col_offset or 0) + 1)
    return (start, end) == ((place.line, place.column), (place.end_line, place.end_column))


def _contains(node: ast.AST, place: Location) -> bool:
    if isinstance(node, (ast.comprehension, ast.arguments, ast.withitem)):
        return any(_contains(each, place) for each in ast.iter_child_nodes(node))
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if first is None or last is None or not isinstance(node, (ast.stmt, ast.expr, ast.keyword)):
        return False
    start, end = (first, node.col_offset + 1), (last, (node.end_col_offset or 0) + 1)
    return start <= (place.line, place.column) and (place.end_line, place.end_column) <= end


def _conditions(path: list[ast.AST]) -> Iterator[ast.expr]:
    """Yield the conditions that decide whether the last node of a path is reached."""
    for outer, inner in pairwise(path):
        if isinstance(outer, (ast.If, ast.While, ast.IfExp)) and inner is not outer.test:
            yield outer.test
        if isinstance(outer, ast.BoolOp) and inner in outer.values:
            yield from outer.values[: outer.values.index(inner)]
        for _, body in ast.iter_fields(outer):
            if isinstance(body, list) and inner in body:
                yield from _ways_out(body[: body.index(inner)])


def _ways_out(before: list[ast.AST]) -> Iterator[ast.expr]:
    """Yield the conditions under which statements return before what follows them."""
    for each in before:
        if isinstance(each, ast.If) and any(isinstance(last, (ast.Return, ast.Raise)) for last in each.body[-1:]):
            yield each.test


def _returned_by(node: ast.AST, method: _Function, own: str, arguments: GuessedArguments) -> str | None:
    """Return the guessed argument that, when called, returned what is iterated or asked for its length."""
    operands = [node, *node.args] if isinstance(node, ast.Call) else [node]
    names = {each.id for each in operands if isinstance(each, ast.Name)}
    made = [each.value for each in ast.walk(method) if isinstance(each, ast.Assign) and _binds(each, names)]
    for value in (*operands, *made):
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            argument = arguments.mentioned(value.func, own)
            if argument is not None:
                return argument
    return None


def _binds(statement: ast.Assign, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in statement.targets)


def another_size_may_mend(problem: Problem, report: Report, expressions: Expressions) -> bool:
    """Return whether a branch that was not run, and hangs on a size, assigns what the failing statement reads.

    ``if x.shape[1] == 7: x = F.pad(x, (0, 2))``: of all sizes, a search tries a few. It tries all usual ranks.
    """
    if problem.location is None:
        return False
    stacks = (each.stack for each in report.nodes if each.location == problem.location)
    ran = {(place.file, place.line, place.column) for each in report.nodes if (place := each.location) is not None}
    places = {problem.location, *(step.location for stack in stacks for step in stack)}
    return any(_is_mended(place, ran, expressions) for place in places)


def _is_mended(place: Location, ran: set[tuple[str, int, int]], expressions: Expressions) -> bool:
    statements = expressions.statements_at(place.file, place.line)
    functions = [index for index, each in enumerate(statements) if isinstance(each, _Function)]
    if not functions or functions[-1] == len(statements) - 1:
        return False
    function, *around = statements[functions[-1] :]
    names = [node for node in _headers(around[-1]) if isinstance(node, ast.Name)]
    variables = {each.id for each in names if _is_within(each, place)} or {each.id for each in names}
    sizes = _names_of_sizes(function)
    lines = [(line, column) for file, line, column in ran if file == place.file]
    for outer, inner in pairwise([function, *around]):
        blocks = (block for name in ("body", "orelse", "finalbody") if inner in (block := getattr(outer, name, [])))
        for statement in (each for block in blocks for each in reversed(block[: block.index(inner)])):
            if any(_may_assign(statement, name, sizes, lines) for name in variables):
                return True
            # What it certainly assigns does not hang on what is before.
            variables -= {each.id for each in getattr(statement, "targets", []) if isinstance(each, ast.Name)}
    return False


def _may_assign(statement: ast.stmt, name: str, sizes: set[str], ran: list[tuple[int, int]]) -> bool:
    """Return whether a statement assigns a variable by a branch that did not run, on a condition about sizes."""
    match statement:
        case ast.If(test=test, body=body):
            is_assigned = any(_stores(node, name) for each in body for node in ast.walk(each))
            last = body[-1].end_lineno or body[-1].lineno
            is_run = any(body[0].lineno <= line <= last for line, _ in ran)
            inner = any(_may_assign(each, name, sizes, ran) for each in (*body, *statement.orelse))
            return inner or (is_assigned and not is_run and _reads_sizes(test, sizes))
        case ast.Assign(targets=targets, value=ast.IfExp(test=test, body=chosen)):
            first = (chosen.lineno, chosen.col_offset)
            last_place = (chosen.end_lineno or 0, chosen.end_col_offset or 0)
            is_run = any(first <= (line, column - 1) < last_place for line, column in ran)
            return any(_stores(each, name) for each in targets) and not is_run and _reads_sizes(test, sizes)
    return False


def _is_within(name: ast.Name, place: Location) -> bool:
    first, last = (place.line, place.column), (place.end_line, place.end_column)
    return first <= (name.lineno, name.col_offset + 1) < last


def _headers(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a statement without those of statements inside it."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from ast.walk(child)


def _names_of_sizes(function: ast.stmt) -> set[str]:
    """Return the variables of a function that hold sizes: ``b, c, t = x.shape``."""
    return {
        part.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _reads_sizes(node.value, set()) and not _is_computed(node.value)
        for target in node.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name)
    }


def _is_computed(value: ast.expr) -> bool:
    """Return whether a value is a tensor of a size rather than the size: ``torch.ones(x.shape[0])``."""
    return any(isinstance(node, ast.Call) and not _is_size(node) for node in ast.walk(value))


def _reads_sizes(test: ast.expr, sizes: set[str]) -> bool:
    ranks = {
        id(part)
        for node in ast.walk(test)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
        for part in ast.walk(node)
    }
    nodes = (node for node in ast.walk(test) if id(node) not in ranks)
    return any(_is_size(node) or (isinstance(node, ast.Name) and node.id in sizes) for node in nodes)


def _is_size(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size" | "numel" | "nelement")):
            return True
    return False


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
