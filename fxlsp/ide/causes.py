"""Causes of problems: one mistake, or one limit of torch.fx, shows at many places and is listed once.

Two problems have one cause if mending it once ends both, or if they are one statement, one function or one input that
torch.fx meets again and again. Equal messages alone are no proof: ``if x.sum() > 0`` of two models are two causes.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeGuard

from fxlsp.report.code_records import Trait
from fxlsp.report.codes import ITERATION, OPTIONAL_INPUT, codes_with
from fxlsp.report.problems import Problem
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.imports import imported_names
from fxlsp.source.python.python_tree import PythonTree, python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

Cause = tuple[Hashable, ...]

ALSO_HERE = "also here"
"""Message of the related places where a cause shows again."""

_MISSING = re.compile(r"No module named '([^']+)'")
_LOADING = re.compile(r"^cannot [^:]+: ")
_GUESSED = "With other inputs this may work: "
_BY_FUNCTION = codes_with(Trait.BY_FUNCTION)
_BY_OPERATION = codes_with(Trait.BY_OPERATION)
_BY_CONSTRUCTION = codes_with(Trait.BY_CONSTRUCTION)
_BY_EXPRESSION = codes_with(Trait.BY_EXPRESSION)
_BY_STATE = codes_with(Trait.BY_STATE)
_ASSERTIONS = ("torch._assert", "torch._check")


@dataclass(frozen=True)
class Symptom:
    """Problem as far as its cause depends on it."""

    code: str
    message: str
    model: str
    path: str
    span: Span | None
    origin: Hashable = None
    """First related place."""

    @classmethod
    def of(cls, problem: Problem) -> Symptom:
        place, related = problem.location, problem.related
        path, span = ("", None) if place is None else (place.file, Span.of(place))
        origin = related[0].location if related else None
        return cls(problem.code, problem.message, problem.model, path, span, origin)

    @property
    def headline(self) -> str:
        """First line of the message, without the full stop that a merged message has."""
        first, *_ = self.message.splitlines() or [""]
        return first.rstrip(".")


def missing_package(message: str) -> str | None:
    """Return the module for want of which an import fails, if the first line of a message is about one."""
    first, *_ = message.splitlines() or [""]
    found = _MISSING.search(first)
    return found[1] if found is not None and "ModuleNotFoundError" in first else None


def cause_of(symptom: Symptom, document: Document | None) -> Cause:
    """Return the cause of a problem; problems of equal causes are one.

    Args:
        document: The text that the problem's span is of, None if it is unknown.
    """
    code, headline = symptom.code, symptom.headline
    package = missing_package(symptom.message)
    if package is not None:
        return ("package", package)
    if code.startswith("FX9"):
        return ("failure", *_line(symptom), _LOADING.sub("", headline))
    if headline.startswith(_GUESSED):
        # One guess is the reason for all of them.
        return (code, symptom.model, re.sub(r"\d+", "0", headline))
    if code == OPTIONAL_INPUT:
        return (code, symptom.model, headline)
    if code in _BY_CONSTRUCTION and symptom.origin is not None:
        return (code, symptom.origin, headline if code.startswith("FX4") else "")
    tree = None if document is None else python_tree(document.program)
    site = None if tree is None or symptom.span is None else _Site.at(tree, symptom.path, symptom.span)
    if site is None:
        return _place(symptom)
    return _cause_at(symptom, site)


def _cause_at(symptom: Symptom, site: _Site) -> Cause:
    code, headline = symptom.code, symptom.headline
    if site.assertion is not None and code.startswith(("FX1", "FX3")):
        return ("assert", symptom.path, site.assertion)
    if code in _BY_FUNCTION and site.called is not None:
        return (code, *site.called)
    if code in _BY_OPERATION:
        return (code, site.function, site.subject)
    if code == ITERATION and site.spread:
        return (code, site.function, site.spread)
    if code in _BY_EXPRESSION:
        return (code, site.function, site.text, headline if code.startswith("FX4") else "")
    if code in _BY_STATE:
        return (code, headline, site.owner if "self" in headline else symptom.path)
    return _place(symptom)


def _place(symptom: Symptom) -> Cause:
    """Return a cause that no problem at another place has."""
    return (symptom.code, symptom.path, symptom.span, "" if symptom.span else symptom.message)


def _line(symptom: Symptom) -> Cause:
    return (symptom.path, None if symptom.span is None else symptom.span.line)


@dataclass(frozen=True)
class _Site:
    """Syntax around a problem."""

    function: Cause
    """Innermost function, with the file."""
    owner: Cause
    """Outermost class, or function outside of classes."""
    assertion: int | None
    """Offset of the ``assert`` that the problem is in."""
    called: Cause | None
    """Function that the expression calls: its full name, and the file or function where that is valid."""
    subject: str
    """What is called, or of which an item is taken; else the expression."""
    spread: str
    """What is passed with a star or two, if the expression is a call."""
    text: str
    """The expression, however it is written."""

    @classmethod
    def at(cls, tree: PythonTree, path: str, span: Span) -> _Site | None:
        node = tree.node_at(span, ast.expr)
        if node is None:
            statement = tree.node_at(span, ast.Assert)
            return None if statement is None else cls((path,), (path,), tree.start(statement), None, "", "", "")
        around = [node, *tree.ancestors(node)]
        scopes = [each for each in around if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        function = (path, scopes[0].lineno) if scopes else (path,)
        owner = (path, scopes[-1].lineno) if scopes else (path,)
        return cls(
            function=function,
            owner=owner,
            assertion=next(map(tree.start, filter(_is_assertion, around)), None),
            called=_called(tree, path, function, node),
            subject=_subject(node),
            spread=_spread(node),
            text=ast.unparse(node),
        )


def _is_assertion(node: ast.AST) -> TypeGuard[ast.stmt]:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(node, ast.Assert) or (isinstance(call, ast.Call) and dotted(call.func) in _ASSERTIONS)


def _called(tree: PythonTree, path: str, function: Cause, node: ast.expr) -> Cause | None:
    """Return the full name of what an expression calls, and where that name is valid."""
    name = dotted(node.func) if isinstance(node, ast.Call) else None
    if name is None:
        return None
    full = imported_names(tree.document.tree.root_node).resolve(name)
    if full is not None:
        return (_absolute(full, path),)
    # A method is one of this function's values; a plain name is a builtin, or of this file.
    return (*function, name) if "." in name else (path, name)


def _absolute(full: str, path: str) -> str:
    """Return a full name that is the same in all files of a package, where it is relative to one of them."""
    rest = full.lstrip(".")
    levels = len(full) - len(rest)
    if not levels:
        return full
    return os.path.normpath(os.path.join(os.path.dirname(path), *[".."] * (levels - 1), rest))


def _subject(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return dotted(node.func) or ast.unparse(node.func)
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)


def _spread(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    items = [ast.unparse(each) for each in node.args if isinstance(each, ast.Starred)]
    return ", ".join([*items, *(f"**{ast.unparse(each.value)}" for each in node.keywords if each.arg is None)])
