"""Calls that are meant to fail: what a test passes to see an error says nothing of what a model takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from fxlsp.source.text.syntax import field, text_of

_EXPECTS = re.compile(r"(\w+\.)*(raises|raises_\w+|assert_?[rR]aises\w*|expect_?(raises|error|failure)\w*|suppress)")
"""Functions that expect what is called in their ``with``, or in their arguments, to raise."""
_XFAIL = re.compile(r"@\s*(\w+\.)*(xfail|expectedFailure|expected_failure)\b")
_FAILS = re.compile(r"(\w+\.)*fail|AssertionError")
"""What a test calls or raises if no error was raised."""
_NOT_OF_MODELS = re.compile(
    r"(\w+\.)*(KeyboardInterrupt|SystemExit|StopIteration|EOFError|ImportError|ModuleNotFoundError|OSError|IOError"
    r"|\w*(FileNotFound|FileExists|Permission|Connection|Timeout)Error)"
)
"""Errors of a user, a loop, the imports or the files around a call: a script that minds these trusts its model."""
_IDLE = ("pass_statement", "continue_statement", "return_statement", "assert_statement", "break_statement", "comment")
"""Statements of a handler for which the error is what was wanted, or no matter."""


def is_meant_to_fail(call: Node) -> bool:
    """Return whether the code around a call expects that it raises, or does not mind."""
    inner, outer = call, call.parent
    while outer is not None:
        if outer.type == "call" and _expects(outer):
            return True
        if outer.type == "with_statement" and inner.type == "block" and _is_entered_for_errors(outer):
            return True
        if outer.type == "try_statement" and inner.type == "block" and _expects_error(outer, inner, call):
            return True
        if outer.type == "decorated_definition" and _is_marked(outer):
            return True
        inner, outer = outer, outer.parent
    return False


def _expects(call: Node) -> bool:
    function, arguments = field(call, "function"), field(call, "arguments")
    if function is None or _EXPECTS.fullmatch(text_of(function)) is None:
        return False
    return arguments is None or not _are_not_of_models(arguments.named_children)


def _are_not_of_models(errors: list[Node]) -> bool:
    """Return whether no error of a list is one that a model may raise; a call without any means all errors."""
    parts = [part for each in errors for part in (each.named_children if each.type == "tuple" else (each,))]
    return bool(parts) and all(_NOT_OF_MODELS.fullmatch(text_of(each)) is not None for each in parts)


def _is_entered_for_errors(statement: Node) -> bool:
    """Return whether a context manager of a ``with`` expects an error, or is a variable that may hold such a one."""
    for item in _below(statement, "with_item"):
        value = field(item, "value")
        while value is not None and value.type == "as_pattern":
            value = value.named_children[0] if value.named_children else None
        if value is None:
            continue
        if any(_expects(each) for each in (value, *_all_calls(value)) if each.type == "call"):
            return True
        if value.type == "identifier" and _may_hold_expectation(statement, text_of(value)):
            return True
    return False


def _may_hold_expectation(statement: Node, name: str) -> bool:
    scope = statement.parent
    while scope is not None and scope.type not in ("function_definition", "module"):
        scope = scope.parent
    for assignment in _descendants(scope, "assignment") if scope is not None else ():
        left, right = field(assignment, "left"), field(assignment, "right")
        if left is None or right is None or text_of(left) != name:
            continue
        if any(_expects(each) for each in (right, *_all_calls(right)) if each.type == "call"):
            return True
    return False


def _expects_error(statement: Node, body: Node, call: Node) -> bool:
    """Return whether a ``try`` fails a test if nothing is raised, or does nothing with the error."""
    if field(statement, "body") != body:
        return False
    handlers = [each for each in statement.named_children if each.type == "except_clause"]
    if not handlers:
        return False
    after = [each for each in body.named_children if each.start_byte >= call.end_byte]
    otherwise = [block for each in statement.named_children if each.type == "else_clause" for block in each.children]
    if any(_is_failure(each) for each in after) or any(
        _is_failure(each) for block in otherwise for each in block.named_children
    ):
        return True
    wanted = [each for each in handlers if not _are_not_of_models(_caught(each))]
    return bool(wanted) and all(_is_idle(each) for each in wanted)


def _caught(handler: Node) -> list[Node]:
    """Return the errors that an ``except`` names."""
    named = [each for each in handler.named_children if each.type not in ("block", "comment")]
    return [each.named_children[0] if each.type == "as_pattern" else each for each in named]


def _is_failure(statement: Node) -> bool:
    """Return whether a statement makes a test fail: ``assert False``, ``self.fail()``, ``raise AssertionError``."""
    if statement.type == "assert_statement":
        return bool(statement.named_children) and text_of(statement.named_children[0]) in ("False", "0")
    if statement.type == "raise_statement":
        return True
    calls = [each for each in statement.named_children if each.type == "call"]
    functions = [field(each, "function") for each in calls]
    return any(each is not None and _FAILS.fullmatch(text_of(each)) is not None for each in functions)


def _is_idle(handler: Node) -> bool:
    blocks = [each for each in handler.named_children if each.type == "block"]
    return bool(blocks) and all(each.type in _IDLE for block in blocks for each in block.named_children)


def _is_marked(decorated: Node) -> bool:
    decorators = (each for each in decorated.named_children if each.type == "decorator")
    return any(_XFAIL.match(text_of(each)) for each in decorators)


def _all_calls(node: Node) -> Iterator[Node]:
    yield from _descendants(node, "call")


def _below(statement: Node, kind: str) -> Iterator[Node]:
    """Yield nodes of a kind in the head of a statement, outside its body."""
    for child in statement.named_children:
        if child.type == kind:
            yield child
        elif child.type != "block":
            yield from _below(child, kind)


def _descendants(node: Node, kind: str) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == kind:
            yield child
        yield from _descendants(child, kind)
