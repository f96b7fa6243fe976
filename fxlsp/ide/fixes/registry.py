"""The fixes of the problems at a place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.assertions import assertions
from fxlsp.ide.fixes.buffers import buffers
from fxlsp.ide.fixes.containers import module_containers, parameter_containers
from fxlsp.ide.fixes.factories import factories
from fxlsp.ide.fixes.fix import Complaint, Fix
from fxlsp.ide.fixes.forward_call import bypasses
from fxlsp.ide.fixes.ignore import ignoring
from fxlsp.ide.fixes.move_to_init import made_in_forward
from fxlsp.ide.fixes.tensor_attributes import in_place_methods
from fxlsp.ide.fixes.where import choices
from fxlsp.ide.fixes.wrap import wrapped_helper, wrapped_length
from fxlsp.ide.problems import FileProblem, problems
from fxlsp.report.codes import (
    COMPILED,
    CONSTANT,
    CONTROL_FLOW,
    CONVERSION,
    FACTORY,
    FOREIGN_FUNCTION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LEAF_BYPASSED,
    LENGTH,
    MADE_IN_FORWARD,
    TENSOR_ATTRIBUTE,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
)
from fxlsp.source.python.python_tree import python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

Fixer = Callable[[Complaint], Iterator[Fix]]

FIXERS: Mapping[str, tuple[Fixer, ...]] = {
    CONTROL_FLOW: (assertions, choices, wrapped_helper),
    ITERATION: (factories, wrapped_helper),
    LENGTH: (wrapped_length, wrapped_helper),
    CONVERSION: (wrapped_helper,),
    INDEX: (wrapped_helper,),
    FACTORY: (factories, wrapped_helper),
    ITEM_ASSIGNMENT: (wrapped_helper,),
    FOREIGN_FUNCTION: (wrapped_helper,),
    COMPILED: (wrapped_helper,),
    UNREGISTERED_MODULE: (module_containers, made_in_forward),
    UNREGISTERED_PARAMETER: (parameter_containers, made_in_forward),
    MADE_IN_FORWARD: (made_in_forward,),
    CONSTANT: (buffers, parameter_containers),
    LEAF_BYPASSED: (bypasses,),
    TENSOR_ATTRIBUTE: (in_place_methods,),
}

_NOT_TRACED = "FX9"
"""These say why there is no trace: there is nothing to ignore."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A fix, and the problem that it is for."""

    fix: Fix
    problem: FileProblem


def offers(snapshot: Snapshot, path: str, selected: Span, named: Collection[tuple[str, Span]] = ()) -> list[Offer]:
    """The fixes for the problems that a selection, or a cursor, touches.

    Args:
        named: codes and spans of further problems that are asked about.
    """
    document = snapshot.documents.get(path)
    if document is None:
        return []
    asked = [
        problem
        for problem in problems(snapshot, path)
        if _touches(problem.span, selected) or (problem.code, problem.span) in named
    ]
    return [Offer(fix, problem) for problem in asked for fix in fixes(document, problem.code, problem.span)]


def fixes(document: Document, code: str, span: Span) -> list[Fix]:
    """The fixes of one problem, the best first; last of all to ignore it."""
    found = mends(document, code, span)
    ignored = None if code.startswith(_NOT_TRACED) else ignoring(document, code, span)
    return found if ignored is None else [*found, ignored]


def mends(document: Document, code: str, span: Span) -> list[Fix]:
    """The fixes that change what the model does, or how, so that the problem is gone; the best first."""
    fixers = FIXERS.get(code, ())
    tree = python_tree(document) if fixers else None
    return [] if tree is None else [fix for fixer in fixers for fix in fixer(Complaint(tree, code, span))]


def _touches(problem: Span, selected: Span) -> bool:
    return (problem.line, problem.column) <= (selected.end_line, selected.end_column) and (
        (selected.line, selected.column) <= (problem.end_line, problem.end_column)
    )
