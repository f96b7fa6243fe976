"""Call of a model with data, and the problems that a front end has with it, at the user's code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from traceback import FrameSummary
from typing import Any

import torch

from ...report.frontends import FrontendProblem, FrontendVerdict, OtherFrontend
from ...report.locations import Location
from ..isolation.torch_private.export_and_compile import without_stacks
from ..model.diagnosis.failures import innermost_of_workspace, message_of, readable
from ..model.diagnosis.machine import may_be_of_machine
from ..model.locations.code_origin import is_installed
from ..model.locations.expressions import ByteSpan, Expressions, span_of
from ..model.locations.source_map import SourceMap

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_LINK = re.compile(r"https?://[^\s'\"<>)]+")
_BREAK_PAGE = re.compile(r"/gb(\d+)\.html$")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+")
_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript)


@dataclass(frozen=True)
class ModelCall:
    """Built model with the arguments of its call."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def not_available(frontend: OtherFrontend, reason: str) -> FrontendVerdict:
    """Return the verdict of a front end that this torch does not have in the form that is needed."""
    problem = problem_of(reason, None, None)
    return FrontendVerdict(frontend, "unavailable", f"not available with torch {torch.__version__}", (problem,))


def problem_of(message: str, location: Location | None, code: str | None) -> FrontendProblem:
    """Return a problem in torch's words, with the page that they name."""
    message = readable(message.strip())
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no reason is given")
    links = [link.rstrip(".,") for link in _LINK.findall(message)]
    numbered = next((link for link in links if _BREAK_PAGE.search(link)), None)
    number = _BREAK_PAGE.search(numbered) if numbered is not None else None
    words = without_stacks(message)
    return FrontendProblem(
        headline=_SENTENCE.split(first)[0],
        message=message,
        location=location,
        code=code,
        graph_break=None if number is None else f"GB{number[1]}",
        link=numbered or next(iter(links), None),
        words="" if words == message else words,
    )


def problem_of_error(error: BaseException, code: str, source_map: SourceMap) -> FrontendProblem:
    """Return the problem of an error with which a front end ended, at the user's expression."""
    causes = tuple(chain_of(error))
    stacks = (place_in_stack(getattr(each, "real_stack", None) or (), source_map) for each in causes)
    place = next((each for each in stacks if each is not None), None) or place_of_error(error, source_map)
    found = problem_of(message_of(error), place, code)
    return replace(found, is_of_machine=may_be_of_machine(causes, found.message))


def place_of_error(error: BaseException, source_map: SourceMap) -> Location | None:
    """Return the user's expression that raised an error or one that it was raised for; None if there is none.

    torch hides some of its own errors in whose traceback alone the user's code is.
    """
    chain = chain_of(error, hidden=True)
    places = (innermost_of_workspace(source_map.of_traceback(each)) for each in chain)
    return next((place for place in places if place is not None), None)


def chain_of(error: BaseException, hidden: bool = False) -> Iterator[BaseException]:
    """Yield an error, and those that it was raised for.

    Args:
        hidden: whether those count that a traceback does not show: of ``raise ... from None``.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        context = None if current.__suppress_context__ and not hidden else current.__context__
        current = current.__cause__ or context


def is_condition(place: Location, source_map: SourceMap) -> bool:
    """Return whether the expression at a location decides which way Python goes.

    Where columns are unknown, the location is a line, which counts if a condition begins on it.
    """
    spans = source_map.expressions.tests_at(place.file, place.line)
    tests = [source_map.location(place.file, span, place.function) for span in spans]
    return place in tests or (bool(tests) and place == source_map.line(place.file, place.line, place.function))


def place_in_stack(stack: Sequence[FrameSummary], source_map: SourceMap) -> Location | None:
    """Return the innermost expression of the workspace in a stack that torch.compile names, else the innermost one.

    torch gives lines, since Python 3.11 also columns. Without them, or if they are those of no expression, the location
    is that of the only operation on the line, else the whole line.
    """
    shown = [frame for frame in stack if frame.lineno and source_map.is_shown(frame.filename)]
    frames = [frame for frame in shown if not is_installed(frame.filename)] or shown
    if not frames:
        return None
    path, line, name = frames[-1].filename, frames[-1].lineno or 1, frames[-1].name
    resumed = _RESUMED.fullmatch(name)
    function = name if resumed is None else resumed[1]
    spans = set(_spans(source_map.expressions, frames[-1]))
    return (
        source_map.location(path, spans.pop(), function) if len(spans) == 1 else source_map.line(path, line, function)
    )


def _spans(expressions: Expressions, frame: FrameSummary) -> Iterator[ByteSpan]:
    """Yield the spans of the expressions that may be meant by a frame."""
    tree, line = expressions.tree(frame.filename), frame.lineno
    starting = [node for node in ast.walk(tree) if getattr(node, "lineno", None) == line] if tree is not None else []
    column, end = getattr(frame, "colno", None), getattr(frame, "end_colno", None)
    if column is None:
        yield from (span_of(node) for node in starting if isinstance(node, _OPERATIONS))
        # The jump on a condition may be meant as well as what the condition computes.
        yield from (span_of(node.test) for node in starting if isinstance(node, (ast.If, ast.While)))
        return
    for node in starting:
        span = span_of(node)
        if (span.column, span.end_column) != (column, end):
            continue
        if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            # A jump has the span of its whole statement if the condition is no comparison.
            statement = expressions.statement_at(frame.filename, span.line, span.column)
            yield from (span_of(test) for test in expressions.conditions(statement, span)) if statement else ()
        elif isinstance(node, ast.expr):
            yield span
